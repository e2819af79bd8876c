"""Drives Debian's Chromium over the DevTools protocol: pages, clicks, keys, pictures.

Needs the `websockets` package."""
import asyncio
import base64
import json
import re
import shutil
import tempfile

import websockets


class Failure(Exception):
    pass


class Page:
    def __init__(self, browser, target, session, name):
        self.browser, self.target, self.session, self.name = browser, target, session, name
        self.errors = []

    async def send(self, method, **params):
        return await self.browser.send(method, params, self.session)

    async def evaluate(self, script):
        reply = await self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True,
                                userGesture=True)
        if "exceptionDetails" in reply:
            raise Failure(f"{self.name}: {script}: {json.dumps(reply['exceptionDetails'])[:600]}")
        return reply["result"].get("value")

    async def until(self, script, seconds=30):
        """Waits until the script's value is true, and returns it."""
        end = asyncio.get_running_loop().time() + seconds
        while True:
            value = await self.evaluate(f"(() => {{ try {{ return {script} }} catch {{ return null }} }})()")
            if value:
                return value
            if asyncio.get_running_loop().time() > end:
                shown = await self.evaluate("JSON.stringify({phase: window.__demo?.phase, frame: window.__demo?.frame, "
                                            "toasts: document.getElementById('toasts')?.innerText, "
                                            "screen: document.body?.dataset.screen})")
                raise Failure(f"{self.name}: not within {seconds} s: {script}; {shown}; {self.errors[:3]}")
            await asyncio.sleep(0.05)

    async def size(self, width, height, phone=False):
        await self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                        deviceScaleFactor=2 if phone else 1, mobile=phone)
        await self.send("Emulation.setTouchEmulationEnabled", enabled=phone, maxTouchPoints=2 if phone else 1)

    async def click(self, selector):
        """A real click in the middle of the element, which has to be what lies on top there."""
        place = await self.until(f"""(() => {{
            document.querySelector({json.dumps(selector)}).scrollIntoView({{block: "nearest", behavior: "instant"}});
            const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return box.width && [box.left + box.width / 2, box.top + box.height / 2];
        }})()""", 10)
        under = f"document.elementFromPoint({place[0]}, {place[1]})"
        if not await self.evaluate(f"Boolean({under}?.closest({json.dumps(selector)}))"):
            raise Failure(f"{self.name}: {selector} cannot be clicked, something lies over it")
        for kind in ("mousePressed", "mouseReleased"):
            await self.send("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    async def type(self, selector, text):
        await self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
        await self.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
        await self.send("Input.insertText", text=text)

    async def key(self, code, down, key=None):
        await self.send("Input.dispatchKeyEvent", type="keyDown" if down else "keyUp", code=code, key=key or code)

    async def picture(self, path):
        reply = await self.send("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(reply["data"]))

    async def reload(self):
        await self.send("Page.reload")

    async def close(self):
        await self.browser.send("Target.closeTarget", {"targetId": self.target})


class Browser:
    """`async with Browser() as browser: page = await browser.page(url, name)`."""

    def __init__(self, program="chromium"):
        self.program = program
        self.next, self.waiting, self.pages = 0, {}, {}

    async def __aenter__(self):
        self.folder = tempfile.mkdtemp(prefix="holdfast-chromium-")
        self.process = await asyncio.create_subprocess_exec(
            self.program, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={self.folder}",
            "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--mute-audio",
            "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
            "--disable-backgrounding-occluded-windows", "--disable-background-networking", "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        try:
            url = await asyncio.wait_for(self._address(), 30)
            self.socket = await websockets.connect(url, max_size=2**26)
        except BaseException:
            self.process.kill()
            raise
        self.reader = asyncio.create_task(self._read())
        return self

    async def _address(self):
        async for line in self.process.stderr:
            found = re.search(rb"DevTools listening on (ws://\S+)", line)
            if found:
                self.drain = asyncio.create_task(self._drain())
                return found.group(1).decode()
        raise Failure("Chromium ended before it was ready")

    async def _drain(self):
        async for _ in self.process.stderr:
            pass

    async def __aexit__(self, *_):
        self.reader.cancel()
        try:
            await asyncio.wait_for(self.socket.close(), 3)
        except TimeoutError:
            pass
        self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), 10)
        except TimeoutError:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def send(self, method, params=None, session=None):
        self.next += 1
        message = {"id": self.next, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        future = asyncio.get_running_loop().create_future()
        self.waiting[self.next] = future
        await self.socket.send(json.dumps(message))
        reply = await asyncio.wait_for(future, 30)
        if "error" in reply:
            raise Failure(f"{method}: {reply['error']}")
        return reply["result"]

    async def _read(self):
        async for text in self.socket:
            message = json.loads(text)
            if "id" in message:
                future = self.waiting.pop(message["id"], None)
                if future and not future.done():
                    future.set_result(message)
                continue
            page = self.pages.get(message.get("sessionId"))
            if page:
                self._notice(page, message["method"], message["params"])

    @staticmethod
    def _notice(page, method, params):
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            page.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            page.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            page.errors.append(" ".join(str(one.get("value", one.get("description"))) for one in params["args"]))

    async def page(self, url, name, width=1280, height=800, phone=False):
        target = (await self.send("Target.createTarget", {"url": "about:blank", "newWindow": True}))["targetId"]
        session = (await self.send("Target.attachToTarget", {"targetId": target, "flatten": True}))["sessionId"]
        page = self.pages[session] = Page(self, target, session, name)
        for domain in ("Runtime", "Log", "Page"):
            await page.send(f"{domain}.enable")
        await page.size(width, height, phone)
        await page.send("Page.navigate", url=url)
        await page.until("document.readyState === 'complete' && window.__demo")
        return page
