"""The picture of a chaos run: frames that came, pauses, and faults, over time."""

import html
import math

WIDTH, LEFT, RIGHT = 1400, 70, 20
RATE, WAITS = (40, 190), (220, 520)
LEAST_MS, MOST_MS = 50, 200_000
COLOURS = {"frame": "#c0392b", "match": "#2471a3"}


def draw(title: str, spans: list, marks: list[dict]) -> str:
    """An SVG document. Spans have `began`, `ended` (ms) and `fault.name`; marks are lines of `bots --pauses`."""
    begin, end = spans[0].began, max(spans[-1].ended, spans[0].began + 1)

    def x(at: float) -> float:
        return LEFT + (min(max(at, begin), end) - begin) / (end - begin) * (WIDTH - LEFT - RIGHT)

    def y(ms: float) -> float:
        part = math.log(min(max(ms, LEAST_MS), MOST_MS) / LEAST_MS) / math.log(MOST_MS / LEAST_MS)
        return WAITS[1] - part * (WAITS[1] - WAITS[0])

    height = WAITS[1] + 40 + 18 * len(spans)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        '<rect width="100%" height="100%" fill="white"/>',
        text(LEFT, 20, f"{title}: {(end - begin) / 1000:.0f} s", size=15),
    ]
    for number, span in enumerate(spans, 1):
        shade = "#f4f6f7" if number % 2 else "#e5e8e8"
        parts.append(
            f'<rect x="{x(span.began):.1f}" y="{RATE[0]}" width="{max(0.5, x(span.ended) - x(span.began)):.1f}" '
            f'height="{WAITS[1] - RATE[0]}" fill="{shade}"><title>{html.escape(span.fault.name)}</title></rect>')
        if len(spans) <= 60:
            parts.append(text(x(span.began) + 2, RATE[0] + 11, str(number), colour="#566573"))
            parts.append(text(LEFT, WAITS[1] + 36 + 18 * number, legend(number, span)))
    parts += rate(marks, begin, end, x)
    for ms in (100, 1_000, 10_000, 100_000):
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(ms):.1f}" y2="{y(ms):.1f}" stroke="#aab7b8" '
            f'stroke-dasharray="2 4"/>')
        parts.append(text(8, y(ms) + 4, f"{ms} ms" if ms < 1000 else f"{ms // 1000} s"))
    for mark in marks:
        if mark["kind"] in COLOURS and begin <= mark["at"] <= end and mark["ms"] > LEAST_MS:
            parts.append(
                f'<circle cx="{x(mark["at"]):.1f}" cy="{y(mark["ms"]):.1f}" r="1.6" fill="{COLOURS[mark["kind"]]}"/>')
    parts.append(text(LEFT, WAITS[1] + 18, "a player waited so long for a frame", colour=COLOURS["frame"]))
    parts.append(text(LEFT + 240, WAITS[1] + 18, "a seeker for a match", colour=COLOURS["match"]))
    parts.append("</svg>\n")
    return "\n".join(parts)


def legend(number: int, span) -> str:
    frame = span.figures()["frame"]
    return (f"{number}  {span.fault.name}: {frame['count']} waited, p50 {frame['p50']:.0f} ms, "
            f"p99 {frame['p99']:.0f} ms, max {frame['max']:.0f} ms"
            + (f", WRONG {len(span.wrong)}" if span.wrong else ""))


def rate(marks: list[dict], begin: float, end: float, x) -> list[str]:
    """Frames of all bots in a second."""
    counts = [(m["at"], m["frames"]) for m in marks if m["kind"] == "rate" and begin <= m["at"] <= end]
    points = []
    for (before, less), (at, more) in zip(counts, counts[1:]):
        if at - before > 50:
            points.append((at, (more - less) / (at - before) * 1000))
    if not points:
        return []
    # What comes in a heap after a pause must not flatten the rest.
    most = sorted(value for _, value in points)[len(points) // 2] * 2 or 1
    line = " ".join(
        f"{x(at):.1f},{RATE[1] - min(1, value / most) * (RATE[1] - RATE[0]):.1f}" for at, value in points)
    return [f'<polyline points="{line}" fill="none" stroke="#1e8449"/>',
            text(8, RATE[0] + 10, f"{most:.0f}"), text(8, RATE[0] + 24, "frames/s"), text(8, RATE[1], "0")]


def text(x: float, y: float, words: str, size: int = 12, colour: str = "#17202a") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}">{html.escape(words)}</text>'
