"""SIGTERM: "stop accepting, tell clients 38, end cleanly within 10 s"; and what the server prints and refuses at
its start."""

import asyncio
import json
import subprocess
import time

import pytest

from rawsocket import RawSocket
from server import Server, binary

pytestmark = [pytest.mark.once, pytest.mark.slow(40)]


class OwnServer:
    """A server for this test alone, in place of the shared one."""

    def __init__(self, hf):
        self.hf = hf

    async def __aenter__(self):
        self.server = await asyncio.to_thread(Server, "default")
        server = self.server

        class One(dict):
            running = {}

            def __getitem__(self, profile):
                return server

        self.hf.servers = One()
        return server

    async def __aexit__(self, *_):
        self.server.kill()
        self.server.alive = lambda: True


async def exit_of(server, seconds):
    begun = time.monotonic()
    while server.process.poll() is None:
        assert time.monotonic() - begun < seconds, f"still running after {seconds} s\n{server.tail()}"
        await asyncio.sleep(0.02)
    return server.process.returncode


@pytest.mark.parametrize("encoding", ["json", "protobuf"])
async def test_clients_are_told(hf, encoding):
    'errors.md: "38 draining: this node is leaving …; reconnect at once"; "mayReconnect is true for 1, 37, 38"'
    hf.encoding = encoding
    async with OwnServer(hf) as server:
        a, b, c = await hf.players(3)
        await hf.room(a, b, frameRate=30)
        await a.do("startFrameSync")
        await b.frame(3)
        server.terminate()
        for client in (a, b, c):
            await client.goodbye(38, timeout=10)
        assert await exit_of(server, 10) == 0


async def test_it_accepts_no_more(hf):
    '"SIGTERM: stop accepting"'
    async with OwnServer(hf) as server:
        a = await hf.player()
        server.terminate()
        await a.goodbye(38, timeout=10)
        try:
            raw = await RawSocket.open(server.address, limit_timeout=1)
            await raw.until_ended(10)
        except (OSError, asyncio.TimeoutError):
            pass
        assert await exit_of(server, 10) == 0


async def test_dead_readers_do_not_hold_it(hf):
    '"end cleanly within 10 s", also with clients that read nothing or say nothing'
    async with OwnServer(hf) as server:
        a, b = await hf.players(2)
        await hf.room(a, b, frameRate=60)
        await a.do("startFrameSync")
        await b.frame(2)
        b.leave_link()
        b.raw.stop_reading()
        silent = [await RawSocket.open(server.address) for _ in range(5)]
        opened = hf.client()
        await opened.open()
        opened.raw.answer_pings = False
        a.post("matchRoom", {"room": hf.config()})
        await asyncio.sleep(0.2)
        server.terminate()
        assert await exit_of(server, 10) == 0
        for raw in silent:
            raw.reset()


async def test_an_idle_server_ends_at_once(hf):
    '"end cleanly within 10 s"'
    async with OwnServer(hf) as server:
        server.terminate()
        assert await exit_of(server, 10) == 0


async def test_the_log_is_json_without_secrets(hf):
    'log lines are JSON on stderr; "never payloads, tokens or secrets"'
    import tokens

    async with OwnServer(hf) as server:
        a, b = await hf.players(2)
        await hf.room(a, b)
        await a.do("sendCustomMessage", {"msg": "a payload nobody else may read"})
        await b.event()
        x = hf.client(token=tokens.token("p", secret="wrong"))
        await x.open()
        await x.refused(12, "connect", {"token": x.token})
        server.terminate()
        await exit_of(server, 10)
        text = server.errors.read_text()
        for line in text.splitlines():
            json.loads(line)
        for secret in (tokens.SECRET, tokens.OTHER_SECRET, a.token, x.token, a.resume_token, "a payload nobody else"):
            assert secret not in text


def test_no_project_no_start(tmp_path):
    'auth.md: "With no project configured, `serve` refuses to start unless `--dev` is given"'
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"listen": "127.0.0.1", "port": 0, "projects": []}))
    for arguments in (["--config", str(config)], ["--port", "0"]):
        done = subprocess.run([binary(), "serve", *arguments], capture_output=True, timeout=20, cwd=tmp_path)
        assert done.returncode != 0 and b"listening" not in done.stdout and done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"port":"x"}',
        '{"projects":[{"key":"a"}]}',
        '{"projects":5}',
        '{"projects":[{"key":"a","secret":"b"}],"limits":{"heartbeatMs":"soon"}}',
    ],
)
def test_bad_configs(tmp_path, text):
    "a config that cannot be understood is refused, with a reason"
    config = tmp_path / "config.json"
    config.write_text(text)
    done = subprocess.run([binary(), "serve", "--config", str(config), "--port", "0"], capture_output=True, timeout=20)
    assert done.returncode != 0 and done.stderr.strip()
