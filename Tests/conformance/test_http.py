"""auth.md: "GET /healthz, /readyz, /metrics: liveness, readiness, Prometheus; no token"."""

import re

import pytest

from rawsocket import RawSocket

pytestmark = pytest.mark.once


async def get(hf, path, method="GET", raw=None, headers=""):
    if raw is None:
        raw = await RawSocket.open(hf.server.address)
        hf.raws.append(raw)
    raw.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode())
    return await raw.http_answer()


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_health(hf, path):
    '"liveness, readiness …; no token"'
    status, _, _ = await get(hf, path)
    assert status == 200


async def test_metrics(hf):
    '"Prometheus; no token"'
    await hf.room(*(await hf.players(2)))
    status, headers, body = await get(hf, "/metrics")
    assert status == 200 and headers["content-type"].startswith("text/plain")
    text = body.decode()
    sample = re.compile(r"^[a-zA-Z_:][a-zA-Z0-9_:]*(\{[^}]*\})? [-+0-9.eE]+(NaN|Inf)?( \d+)?$")
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert lines and all(sample.match(line) for line in lines), lines
    assert "# TYPE " in text and text.endswith("\n")
    types = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)
    assert len({name for name, _ in types}) == len(types)
    assert all(kind in ("counter", "gauge", "histogram", "summary", "untyped") for _, kind in types)


async def test_two_on_one_connection(hf):
    "HTTP/1.1: a connection stays for the next request"
    raw = await RawSocket.open(hf.server.address)
    hf.raws.append(raw)
    for _ in range(3):
        status, _, _ = await get(hf, "/healthz", raw=raw)
        assert status == 200


async def test_unknown_paths(hf):
    "what is not there is 404"
    for path in ("/", "/v1", "/healthz/x", "/../etc/passwd", "/v1/connectx", "/metrics%00"):
        status, _, _ = await get(hf, path)
        assert status in (400, 404), (path, status)


async def test_connect_without_an_upgrade(hf):
    "a plain GET of the WebSocket path is no upgrade"
    status, _, _ = await get(hf, "/v1/connect")
    assert 400 <= status < 500


async def test_no_demo_without_dev(hf):
    "auth.md: the page that hands out tokens is for `--dev` only"
    status, _, body = await get(hf, "/dev/token?player=x")
    assert status == 404 and b"token" not in body.lower().replace(b"/dev/token", b"")


async def test_another_method(hf):
    "no method but GET (and HEAD) reads these"
    status, _, _ = await get(hf, "/healthz", method="DELETE")
    assert status in (404, 405)
