#!/usr/bin/env python3
"""Plays the demo in Chromium against a running node.

    python3 browser_test.py --url http://127.0.0.1:7350 [--pictures FOLDER] [--only NAME]

Needs Debian's chromium and the `websockets` package. Exit status 0: everything held.
"""
import argparse
import asyncio
import os
import secrets
import sys
import time

from chromium import Browser, Failure

COUNTDOWN = 90  # frames before play begins, as in sim.js


def check(holds, text):
    if not holds:
        raise Failure(text)


class Run:
    def __init__(self, browser, url, pictures):
        self.browser, self.url, self.pictures = browser, url, pictures
        self.room = f"test-{secrets.token_hex(4)}"

    def address(self, player, **more):
        query = "&".join(f"{key}={value}" for key, value in {"player": player, "room": self.room, **more}.items())
        return f"{self.url}/demo/?{query}"

    async def page(self, player, name, phone=False, **more):
        size = {"width": 375, "height": 667, "phone": True} if phone else {}
        return await self.browser.page(self.address(f"{player}-{self.room}", name=name, **more), name, **size)

    async def picture(self, page, name):
        if self.pictures:
            await page.picture(os.path.join(self.pictures, f"{name}.png"))


async def compare(pages):
    """Every hash that two pages have of one frame is the same, and so is the last."""
    finals = [await page.until("window.__demo.finalHash", 60) for page in pages]
    tables = [await page.evaluate("window.__demo.hashes") for page in pages]
    common = set.intersection(*(set(table) for table in tables))
    check(len(common) >= 3, f"too few frames to compare: {[len(table) for table in tables]}")
    for frame in sorted(common, key=int):
        check(len({table[frame] for table in tables}) == 1, f"frame {frame} differs: {[t[frame] for t in tables]}")
    check(len(set(finals)) == 1, f"the ends differ: {finals}")
    for page in pages:
        check(await page.evaluate("window.__demo.inStep"), f"{page.name} was told of a desync")
    return finals[0], len(common)


async def whole_match(run):
    """Two pages play a whole match by themselves, one is cut in the middle, a third watches from the middle on."""
    ada = await run.page("a", "Ada", auto=1, seconds=16)
    bo = await run.page("b", "Bo", auto=1, seconds=16)
    for page in (ada, bo):
        await page.until("window.__demo.phase === 'playing'", 30)
    check(await ada.evaluate("window.__demo.room") == await bo.evaluate("window.__demo.room"), "not the same room")
    await bo.until(f"window.__demo.frame > {COUNTDOWN + 100}", 30)

    await bo.evaluate("window.__demo.cut()")
    await bo.until("!document.getElementById('banner').hidden", 5)
    held = await bo.evaluate("window.__demo.frame")
    await run.picture(bo, "desktop-cut")
    await ada.until("window.__demo.state.pucks.some((puck) => !puck.online)", 6)
    await bo.until("window.__demo.resumes === 1", 10)
    await bo.until(f"window.__demo.frame > {held + 60}", 10)
    await run.picture(bo, "desktop-resumed")
    made_up = await bo.evaluate("window.__demo.stats.caughtUp")
    check(made_up >= 60, f"only {made_up} frames were made up for")
    await ada.until("window.__demo.state.pucks.every((puck) => puck.online)", 6)

    room = await ada.evaluate("window.__demo.room")
    eve = await run.page("e", "Eve", auto=1, watch=room)
    await eve.until("window.__demo.phase === 'playing'", 10)
    await run.picture(ada, "desktop-game")
    final, compared = await compare([ada, bo, eve])
    scores = await ada.evaluate("window.__demo.state.pucks.map((puck) => puck.score)")
    check(sum(scores) > 0, "nobody scored: the inputs did not arrive")
    await ada.until("!document.getElementById('result').hidden", 5)
    await asyncio.sleep(0.6)
    await run.picture(ada, "desktop-result")
    stats = await ada.evaluate("window.__demo.stats")
    print(f"  one state {final} in three pages, {compared} frames compared, {made_up} made up for; "
          f"input to frame {stats['delay']:.0f} ms, jitter {stats['jitter']:.1f} ms, "
          f"round trip {stats['roundTripMs']:.1f} ms")
    return [ada, bo, eve]


async def by_hand(run):
    """A desktop and a phone go through every screen with clicks and keys; the phone reloads during the round."""
    ada = await run.page("h1", "Ada", seconds=14)
    await asyncio.sleep(0.5)
    await run.picture(ada, "desktop-home")
    await ada.type("#name", "Ada Lovelace")
    await ada.click("#playForm button")
    await ada.until("window.__demo.phase === 'lobby'", 10)
    bo = await run.page("h2", "Bo", phone=True, seconds=14)
    await asyncio.sleep(0.5)
    await run.picture(bo, "phone-home")
    await bo.click("#playForm button")
    await bo.until("window.__demo.phase === 'lobby'", 10)
    for page, text in ((ada, "Hello Bo, ready when you are"), (bo, "Give me a second…")):
        await page.type("#chatText", text)
        await page.click("#chatForm button")
    await ada.until("document.querySelectorAll('#chat b').length === 2", 5)
    check(await ada.evaluate("document.getElementById('start').disabled"), "a start before everyone is ready")
    await bo.click("#ready")
    await ada.until("!document.getElementById('start').disabled", 5)
    await asyncio.sleep(0.4)
    await run.picture(ada, "desktop-lobby")
    await run.picture(bo, "phone-lobby")
    await ada.click("#start")
    for page in (ada, bo):
        await page.until("window.__demo.phase === 'playing'", 10)
    await ada.until("window.__demo.frame >= 38", 10)
    await run.picture(ada, "desktop-countdown")
    await ada.until(f"window.__demo.frame > {COUNTDOWN + 5}", 10)
    own = f"window.__demo.state.pucks.find((puck) => puck.id === 'h1-{run.room}')"
    before = await ada.evaluate(f"{own}.y")
    await ada.key("ArrowDown", True)
    await ada.key("Space", True, " ")
    await ada.until(f"{own}.y > {before} + 100 * 1024", 5)
    await ada.key("Space", False, " ")
    await ada.key("ArrowDown", False)
    await ada.key("ArrowRight", True)
    await steer_by_touch(bo, f"window.__demo.state.pucks.find((puck) => puck.id === 'h2-{run.room}')")
    await run.picture(bo, "phone-game")
    await ada.click("#cut")
    await bo.reload()
    await bo.until("window.__demo?.phase === 'playing'", 10)
    await ada.until("window.__demo.resumes === 1", 10)
    final, compared = await compare([ada, bo])
    await asyncio.sleep(0.6)
    await run.picture(bo, "phone-result")
    await bo.until("document.getElementById('again').offsetWidth > 0", 5)
    # The owner has stopped the round by then; the next one needs everybody again.
    await bo.until("window.__demo.phase === 'result'", 5)
    await asyncio.sleep(1.5)
    await bo.click("#again")
    await ada.click("#again")
    await ada.until("window.__demo.phase === 'lobby' && !document.getElementById('start').disabled", 10)
    await bo.click("#leaveLobby")
    await bo.until("window.__demo.phase === 'home'", 5)
    await ada.until("document.querySelectorAll('.seat:not(.empty)').length === 1", 5)
    await bo.click("#browse")
    await bo.until("document.querySelectorAll('#roomList li:not(.none)').length === 1", 5)
    await asyncio.sleep(0.4)
    await run.picture(bo, "phone-rooms")
    await bo.click("#roomList button.primary")
    await bo.until("window.__demo.phase === 'lobby'", 5)
    print(f"  one state {final} after a cut and a reload, {compared} frames compared")
    return [ada, bo]


async def steer_by_touch(page, own):
    place = await page.evaluate("(() => { const b = document.getElementById('stick').getBoundingClientRect();"
                                "return [b.left + b.width / 2, b.top + b.height / 2] })()")
    before = await page.evaluate(f"{own}.x")
    await page.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": place[0], "y": place[1]}])
    await page.send("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": place[0] + 40, "y": place[1] - 6}])
    await page.until(f"{own}.x > {before} + 60 * 1024", 5)
    await page.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


async def replaced(run):
    """The same player in a second tab takes over; the first one says so and stays away."""
    first = await run.page("r", "Rae")
    await first.click("#playForm button")
    await first.until("window.__demo.phase === 'lobby'", 10)
    second = await run.page("r", "Rae")
    await second.click("#playForm button")
    await second.until("window.__demo.phase === 'lobby'", 10)
    await first.until("document.getElementById('gone').open", 5)
    await asyncio.sleep(1.5)
    check(await second.evaluate("window.__demo.phase") == "lobby", "the first tab came back")
    await run.picture(first, "desktop-replaced")
    return [first, second]


async def desync(run):
    """A page that computes something else is found out by its hash, and everyone is told."""
    ada = await run.page("d1", "Ada", auto=1, seconds=10)
    bo = await run.page("d2", "Bo", auto=1, seconds=10)
    await bo.until(f"window.__demo.frame > {COUNTDOWN}", 30)
    check(await ada.evaluate("window.__demo.inStep"), "out of step from the start")
    await bo.evaluate("window.__demo.state.pucks[0].score += 1")
    for page in (ada, bo):
        await page.until("!window.__demo.inStep", 10)
    return [ada, bo]


async def no_overflow(run):
    """Nothing is wider than the screen on a phone, on any screen."""
    page = await run.page("o", "Max", phone=True)
    for screen in ("home", "lobby", "game"):
        wide = await page.evaluate(f"""(() => {{
            document.body.dataset.screen = "{screen}";
            for (const one of document.querySelectorAll("[data-for]")) one.hidden = one.dataset.for !== "{screen}";
            document.getElementById("ready").hidden = true; // it and "start" are never both there
            const section = document.querySelector('[data-for="{screen}"]');
            const edge = section.getBoundingClientRect().right + 0.5;
            const over = [...section.querySelectorAll("button, input, .card, dd, h1, li")]
                .filter((one) => one.getBoundingClientRect().right > edge).map((one) => one.outerHTML.slice(0, 60));
            return [document.documentElement.scrollWidth, over];
        }})()""")
        check(wide[0] <= 375 and not wide[1], f"{screen} is {wide} wide")
    return [page]


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--pictures", help="a folder for screenshots")
    parser.add_argument("--only", help="the name of one scenario")
    parser.add_argument("--chromium", default="chromium")
    options = parser.parse_args()
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
    failed = False
    async with Browser(options.chromium) as browser:
        for scenario in (whole_match, by_hand, replaced, desync, no_overflow):
            if options.only and scenario.__name__ != options.only:
                continue
            began = time.monotonic()
            run = Run(browser, options.url.rstrip("/"), options.pictures)
            try:
                pages = await asyncio.wait_for(scenario(run), 150)
                errors = [f"{page.name}: {error}" for page in pages
                          for error in page.errors + await page.evaluate("window.__demo.complaints")]
                check(not errors, f"something went wrong on the way: {errors[:5]}")
                print(f"ok {scenario.__name__} ({time.monotonic() - began:.0f} s)", flush=True)
            except (Failure, TimeoutError) as error:
                failed = True
                print(f"FAILED {scenario.__name__}: {error or 'took too long'}", flush=True)
                for page in list(browser.pages.values()):
                    if page.errors:
                        print(f"  {page.name}: {page.errors[:3]}")
            for page in list(browser.pages.values()):
                try:
                    await page.close()
                except Failure:
                    pass
            browser.pages.clear()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
