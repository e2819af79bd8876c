"""auth.md: `--dev`, tokens of the program, and TLS."""

import asyncio
import json
import ssl
import subprocess

import pytest
import websockets

import messages
import tokens
from rawsocket import RawSocket
from server import Server, binary

pytestmark = [pytest.mark.once, pytest.mark.slow(40)]


async def get(address, path):
    raw = await RawSocket.open(address)
    raw.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\n\r\n".encode())
    answer = await raw.http_answer()
    raw.reset()
    return answer


async def connect(url, token, **how):
    async with websockets.connect(url, subprotocols=["holdfast.v1.json"], **how) as ws:
        await ws.send(json.dumps({"id": 1, "connect": {"token": token}}))
        return messages.decode("json", (await asyncio.wait_for(ws.recv(), 5)).encode())


@pytest.fixture
def start(servers, tmp_path):
    """Starts servers of this test's own."""
    running = []

    def starter(arguments, scheme="http"):
        server = Server(directory=tmp_path, arguments=arguments, scheme=scheme)
        running.append(server)
        return server

    yield starter
    for server in running:
        server.stop()


async def test_dev(start):
    '''auth.md: "then project `dev` with the published secret `holdfast-dev-secret`, loopback only, and a page that
    hands out tokens"'''
    server = await asyncio.to_thread(start, ["--dev", "--port", "0"])
    url = f"ws://127.0.0.1:{server.address[1]}/v1/connect"
    own = tokens.token("me", project="dev", secret="holdfast-dev-secret")
    assert (await connect(url, own)).connected.player_id == "me"
    status, headers, body = await get(server.address, "/dev/token?player=some%20one&name=N")
    answer = json.loads(body)
    assert status == 200 and answer["url"].startswith("ws://") and answer["url"].endswith("/v1/connect")
    assert (await connect(answer["url"], answer["token"])).connected.player_id == "some one"
    for path in ("/dev/token", "/dev/token?player=", "/dev/token?player=" + "x" * 65, "/dev/token?player=%C3%A9"):
        status, _, _ = await get(server.address, path)
        assert status == 400, path


def test_dev_is_for_loopback_only(servers, tmp_path):
    'auth.md: "loopback only"'
    done = subprocess.run(
        [binary(), "serve", "--dev", "--listen", "0.0.0.0", "--port", "0"], capture_output=True, timeout=20
    )
    assert done.returncode != 0 and b"listening" not in done.stdout and done.stderr


async def test_tokens_of_the_program(start):
    'auth.md, "Tokens": what `holdfast token` makes is accepted'
    server = await asyncio.to_thread(start, ["--dev", "--port", "0"])
    url = f"ws://127.0.0.1:{server.address[1]}/v1/connect"

    def made(*arguments):
        done = subprocess.run([binary(), "token", *arguments], capture_output=True, timeout=20)
        return done.returncode, done.stdout.decode().strip()

    code, token = made("--player", "p1", "--name", "Name", "--avatar", "https://x/y", "--ttl", "60")
    assert code == 0 and (await connect(url, token)).connected.player_id == "p1"
    code, token = made("--player", "p1", "--secret", "another")
    assert code == 0 and (await connect(url, token)).error.code == 12
    code, token = made("--player", "p1", "--scope", "admin")
    assert code != 0 or (await connect(url, token)).error.code == 12
    assert made("--player", "x" * 65)[0] != 0
    assert made("--player", "x", "--ttl", str(31 * 86400))[0] != 0


async def test_tls(start, tmp_path):
    "TLS when given a certificate: wss, and the ready line says https"
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            str(key),
            "-out",
            str(certificate),
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1,DNS:localhost",
        ],
        check=True,
        capture_output=True,
        timeout=30,
    )
    server = await asyncio.to_thread(
        start, ["--dev", "--port", "0", "--tls-certificate", str(certificate), "--tls-key", str(key)], "https"
    )
    context = ssl.create_default_context(cafile=str(certificate))
    url = f"wss://127.0.0.1:{server.address[1]}/v1/connect"
    token = tokens.token("me", project="dev", secret="holdfast-dev-secret")
    assert (await connect(url, token, ssl=context)).connected.player_id == "me"
    async with websockets.connect(url, subprotocols=["holdfast.v1.protobuf"], ssl=context) as ws:
        await ws.send(messages.encode("protobuf", {"id": 1, "connect": {"token": token}}))
        await ws.recv()
        await ws.send(
            messages.encode("protobuf", {"id": 2, "createRoom": {"room": {"maxPlayerCount": 2, "type": "t"}}})
        )
        assert messages.decode("protobuf", await ws.recv()).room_joined.room.owner_id == "me"
        await ws.send(messages.encode("protobuf", {"id": 3, "ping": {}}))
        assert messages.decode("protobuf", await ws.recv()).WhichOneof("body") == "pong"
    for bad in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff", b"\x00" * 5000):
        raw = await RawSocket.open(server.address)
        raw.write(bad)
        await raw.until_ended(15)
    assert (await connect(url, token, ssl=context)).connected.player_id == "me"
    server.terminate()
    assert await asyncio.to_thread(server.process.wait, 10) == 0
