"""The HTTP upgrade, subprotocols, and WebSocket framing that RFC 6455 forbids."""

import asyncio

import pytest

import tokens
from rawsocket import BINARY, CLOSE, CONTINUATION, PING, TEXT, RawSocket, Refused, frame_bytes

JSON, PROTOBUF = "holdfast.v1.json", "holdfast.v1.protobuf"


async def raw_socket(hf, **how):
    raw = await RawSocket.open(hf.server.address, **how)
    hf.raws.append(raw)
    return raw


@pytest.mark.once
async def test_subprotocols(hf):
    'holdfast.proto: "`holdfast.v1.json` (also the default when none is offered) or `holdfast.v1.protobuf`"'
    for offered, encoding in (
        ([], "json"),
        ([JSON], "json"),
        ([PROTOBUF], "protobuf"),
        (["chat", PROTOBUF], "protobuf"),
        (["x", JSON, "y"], "json"),
    ):
        c = hf.client()
        await c.open(subprotocols=offered)
        assert c.encoding == encoding
        await c.connect()


@pytest.mark.once
@pytest.mark.parametrize("offered", [["chat"], ["holdfast.v2.json"], ["holdfast.v1"], ["HOLDFAST.V1.JSON"], ["a", "b"]])
async def test_only_unknown_subprotocols(hf, offered):
    'holdfast.proto: "If only unknown subprotocols are offered, the upgrade is refused with HTTP 400."'
    raw = await raw_socket(hf)
    with pytest.raises(Refused) as refusal:
        await raw.upgrade(subprotocols=offered)
    assert refusal.value.status == 400


@pytest.mark.once
async def test_subprotocols_in_several_headers(hf):
    "RFC 6455: the header may stand more than once"
    raw = await raw_socket(hf)
    answer = await raw.upgrade(headers=["Sec-WebSocket-Protocol: chat", f"Sec-WebSocket-Protocol: {PROTOBUF}"])
    assert answer["sec-websocket-protocol"] == PROTOBUF


KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
GOOD = [
    "GET /v1/connect HTTP/1.1",
    "Host: x",
    "Upgrade: websocket",
    "Connection: Upgrade",
    KEY,
    "Sec-WebSocket-Version: 13",
]
BAD = {
    "no upgrade": [h for h in GOOD if not h.startswith("Upgrade")],
    "no connection": [h for h in GOOD if not h.startswith("Connection")],
    "no key": [h for h in GOOD if not h.startswith("Sec-WebSocket-Key")],
    "a short key": [h if h != KEY else "Sec-WebSocket-Key: abc" for h in GOOD],
    "no version": [h for h in GOOD if not h.startswith("Sec-WebSocket-Version")],
    "another version": [h.replace("13", "8") if "Version" in h else h for h in GOOD],
    "POST": [GOOD[0].replace("GET", "POST"), *GOOD[1:]],
    "another path": [GOOD[0].replace("/v1/connect", "/v1/other"), *GOOD[1:]],
}


@pytest.mark.once
@pytest.mark.parametrize("case", BAD)
async def test_bad_handshakes(hf, case):
    "RFC 6455 4.2: what is no opening handshake is not answered 101"
    raw = await raw_socket(hf)
    raw.write("\r\n".join(BAD[case]).encode() + b"\r\n\r\n")
    status, _, _ = await raw.http_answer()
    assert 400 <= status < 500, status
    await (await hf.player()).fence()


@pytest.mark.once
@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x00" * 3000,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /v1/connect HTTP/1.1\r\nHost x\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 2_000_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 300_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"".join(b"A%d: b\r\n" % n for n in range(20_000)) + b"\r\n",
    ],
)
async def test_garbage_instead_of_http(hf, data):
    "bad handshakes: answered with an error or closed; the process never dies or stalls from it"
    raw = await raw_socket(hf)
    raw.write(data)
    try:
        await raw.until(lambda: raw.buffer or raw.ended, 3)
        assert raw.ended or not raw.buffer.startswith(b"HTTP/1.1 101")
    except AssertionError:
        pass
    await (await hf.player()).fence()


@pytest.mark.once
async def test_a_slow_handshake(hf):
    "TCP has no message borders: the request comes in small pieces"
    raw = await raw_socket(hf)
    for at in range(0, len("\r\n".join(GOOD)) + 4, 7):
        raw.write(("\r\n".join(GOOD) + "\r\n\r\n").encode()[at : at + 7])
        await asyncio.sleep(0.001)
    status, headers, _ = await raw.http_answer()
    assert status == 101 and headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


@pytest.mark.once
async def test_letter_case_of_headers(hf):
    "RFC 6455: names and the tokens `websocket`, `Upgrade` are compared without case; Connection may list several"
    raw = await raw_socket(hf)
    raw.write(
        b"\r\n".join(
            [
                b"GET /v1/connect HTTP/1.1",
                b"HOST: x",
                b"UPGRADE: WebSocket",
                b"connection: keep-alive, upgrade",
                b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
                b"SEC-WEBSOCKET-VERSION: 13",
                b"",
                b"",
            ]
        )
    )
    status, headers, _ = await raw.http_answer()
    assert status == 101 and "sec-websocket-extensions" not in headers


async def test_a_message_right_behind_the_handshake(hf):
    "bytes behind the request belong to the WebSocket"
    c = hf.client()
    raw = await raw_socket(hf)
    import messages

    got = []
    raw.on_message = lambda opcode, payload: got.append((opcode, payload))
    early = frame_bytes(
        TEXT if c.encoding == "json" else BINARY, messages.encode(c.encoding, {"id": 1, "connect": {"token": c.token}})
    )
    await raw.upgrade(subprotocols=[JSON if c.encoding == "json" else PROTOBUF], early=early)
    await raw.until(lambda: got, what="connected")
    assert messages.decode(c.encoding, got[0][1]).WhichOneof("body") == "connected"


FRAMING = {
    "not masked": lambda own: frame_bytes(own, b'{"id":9,"ping":{}}', mask=False),
    "reserved bit 1": lambda own: frame_bytes(own, b'{"id":9,"ping":{}}', rsv=4),
    "reserved bit 2": lambda own: frame_bytes(own, b"x", rsv=2),
    "reserved bit 3": lambda own: frame_bytes(own, b"x", rsv=1),
    "opcode 3": lambda own: frame_bytes(3, b"x"),
    "opcode 11": lambda own: frame_bytes(11, b"x"),
    "a fragmented ping": lambda own: frame_bytes(PING, b"x", fin=False),
    "a long ping": lambda own: frame_bytes(PING, b"x" * 126),
    "a continuation of nothing": lambda own: frame_bytes(CONTINUATION, b"x"),
    "a message inside a message": lambda own: frame_bytes(own, b"x", fin=False) + frame_bytes(own, b"y"),
    "a negative length": lambda own: frame_bytes(own, b"x", length=bytes([127, 255, 0, 0, 0, 0, 0, 0, 1])),
    "a close of one byte": lambda own: frame_bytes(CLOSE, b"\x03"),
    "a close with code 1005": lambda own: frame_bytes(CLOSE, b"\x03\xed"),
    "a close with bad UTF-8": lambda own: frame_bytes(CLOSE, b"\x03\xe8\xff\xfe"),
}


@pytest.mark.parametrize("case", FRAMING)
async def test_bad_framing(hf, case):
    'RFC 6455: fail the connection; rooms.md: "A link is dropped when its socket ends in any way without `disconnect`"'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    b.may_answer_unasked = True
    b.raw.write(FRAMING[case](TEXT if b.encoding == "json" else BINARY))
    await b.raw.until_ended(5)
    assert not b.replies.get(9), "a bad frame is not carried out"
    reply = await b.resume()
    assert reply["resumed"] and reply["room"]["id"] == room.id
    await a.nothing()


@pytest.mark.once
async def test_the_servers_close(hf):
    "RFC 6455: a close frame is answered with one, then the connection ends"
    c = await hf.player()
    c.raw.close_frame(1000, b"bye")
    await c.raw.until_ended()
    assert c.raw.close_code in (1000, 1005)


@pytest.mark.once
async def test_silent_connections(hf):
    '"silent clients": connections that say nothing keep nobody out'
    silent = [await raw_socket(hf) for _ in range(150)]
    half = [await raw_socket(hf) for _ in range(50)]
    for raw in half:
        raw.write(b"GET /v1/connect HTTP/1.1\r\nHost:")
    c = await hf.player()
    await c.fence()
    assert silent


@pytest.mark.once
@pytest.mark.slow(40)
async def test_silent_connections_end(hf):
    '"nothing within 10 s": a connection that never finishes its handshake does not stay for ever'
    raws = [await raw_socket(hf), await raw_socket(hf)]
    raws[1].write(b"GET /v1/connect HTTP/1.1\r\nHost: x\r\n")
    for raw in raws:
        await raw.until_ended(30)


@pytest.mark.parametrize("compression", [None, "deflate"])
async def test_another_client_library(hf, compression):
    "an outside WebSocket implementation gets along with the server"
    import websockets

    import messages

    host, port = hf.server.address
    subprotocol = JSON if hf.encoding == "json" else PROTOBUF
    async with websockets.connect(
        f"ws://{host}:{port}/v1/connect", subprotocols=[subprotocol], compression=compression
    ) as ws:
        assert ws.subprotocol == subprotocol

        async def call(message):
            payload = messages.encode(hf.encoding, message)
            await ws.send(payload.decode() if hf.encoding == "json" else payload)
            answer = await asyncio.wait_for(ws.recv(), 5)
            assert isinstance(answer, str) == (hf.encoding == "json")
            return messages.decode(hf.encoding, answer.encode() if isinstance(answer, str) else answer)

        name = hf.name()
        assert (await call({"id": 1, "connect": {"token": tokens.token(name)}})).connected.player_id == name
        assert (await call({"id": 2, "createRoom": {"room": hf.config()}})).room_joined.room.owner_id == name
        await asyncio.wait_for(await ws.ping(), 5)
        assert (await call({"id": 3, "disconnect": {}})).WhichOneof("body") == "ok"
        farewell = messages.decode(hf.encoding, (lambda m: m.encode() if isinstance(m, str) else m)(await ws.recv()))
        assert farewell.disconnected.code == 0
        await asyncio.wait_for(ws.wait_closed(), 5)
        assert ws.close_code == 1000
