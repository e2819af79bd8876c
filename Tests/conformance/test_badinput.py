"""Bad input in both encodings: what is malformed, too large, of the other kind, or too much."""

import asyncio
import random

import pytest

import messages
from rawsocket import BINARY, CONTINUATION, TEXT, frame_bytes


def garbage(client):
    return b"{nothing" if client.encoding == "json" else b"\x0a\xff"


def wire(client, message):
    return messages.encode(client.encoding, message)


async def stray(client, code=11, number=7):
    """The next error without an id, or with this one."""
    client.pending[number] = ("raw", {})
    await client.until(lambda: client.strays or client.replies.get(number), what="an error")
    client.pending.pop(number, None)
    reply = client.strays.pop(0) if client.strays else client.replies.pop(number)[0]
    client.replies.pop(0, None)
    assert reply["code"] == code, reply
    return reply


async def test_malformed_messages(hf):
    '''errors.md: "If no id can be read from a bad message, the error carries none."; "An error never closes a link,
    except …"'''
    c = await hf.player()
    for _ in range(5):
        c.send_bytes(garbage(c))
        assert (await stray(c)).id == 0
    await c.fence()


async def test_twenty_malformed_in_a_row(hf):
    'errors.md: "… or 20 malformed messages in a row (11)": errors, then `disconnected` 11'
    c = await hf.player()
    for _ in range(19):
        c.send_bytes(garbage(c))
    await c.fence()
    assert len(c.strays) == 19
    for _ in range(19):
        c.send_bytes(garbage(c))
    await c.fence()
    assert len(c.strays) == 38 and all(s["code"] == 11 for s in c.strays)
    for _ in range(20):
        c.send_bytes(garbage(c))
    await c.goodbye(11)


async def test_refused_requests_are_not_malformed(hf):
    'errors.md: "20 malformed messages in a row": a well-formed request over a limit is no malformed message'
    c = await hf.player()
    await hf.room(c)
    for _ in range(30):
        await c.refused(11, "sendCustomMessage", {"msg": ""})
    await c.fence()


async def test_the_other_kind_of_frame(hf):
    'holdfast.proto: "A frame of the other kind (binary on a JSON connection): 11."'
    c = await hf.player()
    other = BINARY if c.encoding == "json" else TEXT
    text = messages.encode("protobuf" if c.encoding == "json" else "json", {"id": 500, "ping": {}})
    c.pending[500] = ("raw", {})
    c.may_answer_unasked = True
    c.send_bytes(text, opcode=other)
    await c.until(lambda: c.strays or c.replies.get(500), what="an error")
    reply = c.strays.pop() if c.strays else c.replies[500].pop()
    assert reply.kind == "error" and reply["code"] == 11
    await c.fence()


def padded(client, size):
    """A `ping` of exactly this many bytes."""
    if client.encoding == "json":
        text = b'{"id":500,"ping":{"clientTime":1}'
        return text + b" " * (size - len(text) - 1) + b"}"
    base = wire(client, {"id": 500, "ping": {"clientTime": 1}})
    room = size - len(base) - 2
    for length in range(room, room - 6, -1):
        more = b"\xa2\x7d" + varint(length) + b"x" * length
        if len(base) + len(more) == size:
            return base + more
    raise AssertionError("no such size")


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


async def test_the_largest_message(hf):
    'errors.md: "a message over 96 KiB" closes the link (11); 96 KiB pass'
    c = await hf.player()
    c.pending[500] = ("raw", {})
    c.send_bytes(padded(c, 98304))
    assert (await c.reply(500)).kind == "pong"
    c.may_answer_unasked = True
    c.send_bytes(padded(c, 98305))
    await c.goodbye(11)


async def test_the_largest_message_in_fragments(hf):
    'errors.md: "a message over 96 KiB" counts the whole message'
    c = await hf.player()
    own = TEXT if c.encoding == "json" else BINARY
    payload = padded(c, 98305)
    c.may_answer_unasked = True
    for at in range(0, len(payload), 9000):
        last = at + 9000 >= len(payload)
        c.raw.send(own if at == 0 else CONTINUATION, payload[at : at + 9000], fin=last)
    await c.goodbye(11)


async def test_a_huge_length_is_not_waited_for(hf):
    'errors.md: "a message over 96 KiB": what the header claims is enough'
    c = await hf.player()
    own = TEXT if c.encoding == "json" else BINARY
    c.raw.send(own, b"x" * 100, length=2**40)
    await c.until(lambda: c.farewell or c.raw.ended, what="the end")
    await c.raw.until_ended()
    assert c.farewell is None or c.farewell["code"] == 11


async def test_text_that_is_not_utf8(hf):
    'errors.md: "text that is not UTF-8" closes the link (11)'
    c = await hf.player()
    if c.encoding == "json":
        c.send_bytes(b'{"id":7,"createRoom":{"room":{"maxPlayerCount":2,"type":"\xff\xfe"}}}')
        await c.goodbye(11)
    else:
        c.send_bytes(b"\xff\xfe", opcode=TEXT)
        await c.until(lambda: c.farewell or c.strays, what="an error")


@pytest.mark.once
@pytest.mark.parametrize(
    "bad", [b"\x80", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80"]
)
async def test_bad_utf8_in_json(hf, bad):
    'errors.md: "text that is not UTF-8": stray and missing continuations, overlong forms, surrogates, above U+10FFFF'
    c = await hf.player()
    c.send_bytes(b'{"id":7,"ping":{},"x":"' + bad + b'"}')
    c.may_answer_unasked = True
    await c.goodbye(11)


async def test_strings_that_are_not_utf8_in_protobuf(hf):
    'errors.md: "11 invalidRequest: malformed, …, invalid UTF-8"; the link stays'
    c = hf.client(encoding="protobuf")
    await c.start()
    room = messages.pb.RoomConfig(max_player_count=2, type="abcd").SerializeToString().replace(b"abcd", b"a\xff\xfed")
    create = b"\x0a" + bytes([len(room)]) + room
    c.pending[7] = ("raw", {})
    c.send_bytes(b"\x08\x07" + b"\x52" + bytes([len(create)]) + create)
    await c.until(lambda: c.strays or c.replies.get(7), what="an error")
    reply = c.strays.pop() if c.strays else c.replies[7].pop()
    assert reply.kind == "error" and reply["code"] == 11
    await c.fence()
    await c.refused(20, "leaveRoom")


PROTOBUF = {
    "truncated varint": b"\x08",
    "truncated length": b"\x22\x05\x08\x01",
    "varint over ten bytes": b"\x08" + b"\xff" * 10 + b"\x01",
    "field number 0": b"\x00\x01",
    "wire type 6": b"\x0e\x01",
    "wire type 7": b"\x0f\x01",
    "an end without a beginning": b"\x0c",
    "length of 2^62": b"\x22" + b"\xff" * 8 + b"\x3f",
    "truncated 32 bits": b"\xa5\x7d\x01\x02",
    "truncated 64 bits": b"\xa1\x7d\x01\x02",
}


@pytest.mark.once
@pytest.mark.parametrize("case", PROTOBUF)
async def test_bad_protobuf(hf, case):
    'errors.md: "11 invalidRequest: malformed"'
    c = hf.client(encoding="protobuf")
    await c.start()
    c.send_bytes(PROTOBUF[case])
    await stray(c)
    await c.fence()


@pytest.mark.once
async def test_protobuf_truncated_at_every_byte(hf):
    'errors.md: "11 … malformed": a cut inside a field; between two fields the rest is a shorter message'
    c = hf.client(encoding="protobuf")
    await c.start()
    whole = wire(c, {"createRoom": {"room": {"maxPlayerCount": 2, "type": "t", "matchParams": {"a": "b"}}}, "id": 7})
    edges = {2}
    for size in range(1, len(whole)):
        if size in edges:
            continue
        c.send_bytes(whole[:size])
        await stray(c)
        if size % 8 == 0:
            await c.fence()
    await c.refused(20, "leaveRoom")


@pytest.mark.once
async def test_unknown_fields_in_protobuf(hf):
    '"Unknown fields are ignored in both encodings"; "No known body: 16."'
    c = hf.client(encoding="protobuf")
    await c.start()
    extra = b"\xa0\x7d\x05" + b"\xa1\x7d" + b"x" * 8 + b"\xa2\x7d\x03abc" + b"\xa5\x7d" + b"y" * 4
    c.pending[7] = c.pending[8] = c.pending[9] = ("raw", {})
    c.send_bytes(extra + wire(c, {"id": 7, "ping": {"clientTime": 3}}) + extra)
    assert (await c.reply(7))["clientTime"] == 3
    c.send_bytes(b"\x08\x08" + extra)
    assert (await c.reply(8))["code"] == 16
    c.send_bytes(b"\x08\x09")
    assert (await c.reply(9))["code"] == 16


@pytest.mark.once
async def test_random_bytes(hf):
    "bad input gets 11 or 16 and changes nothing; the process never dies or stalls from it"
    generator = random.Random(20260101)
    watcher = await hf.player()
    for encoding in ("json", "protobuf"):
        for _ in range(12):
            c = hf.client(encoding=encoding)
            await c.start()
            c.may_answer_unasked = True
            valid = [
                wire(c, m)
                for m in (
                    {"id": 1, "ping": {"clientTime": 5}},
                    {"id": 2, "createRoom": {"room": {"maxPlayerCount": 2, "type": "t"}}},
                    {"id": 3, "sendCustomMessage": {"msg": "x", "receivers": ["a", "b"]}},
                    {"id": 4, "putSnapshot": {"state": b"abc"}},
                )
            ]
            for _ in range(18):
                data = bytearray(generator.choice(valid))
                for _ in range(generator.randint(1, 4)):
                    at = generator.randrange(len(data))
                    change = generator.random()
                    if change < 0.5:
                        data[at] = generator.randrange(128 if encoding == "json" else 256)
                    elif change < 0.75:
                        data[at:at] = bytes(generator.randrange(128) for _ in range(generator.randint(1, 5)))
                    else:
                        del data[at : at + generator.randint(1, 3)]
                        data = data or bytearray(b"x")
                c.send_bytes(bytes(data))
                if c.raw.ended:
                    break
            c.checks = False
            await asyncio.sleep(0)
            c.raw.end()
        await watcher.fence()


async def test_fragments_and_control_frames_between(hf):
    "RFC 6455: a message may come in fragments, with control frames in between"
    c = await hf.player()
    own = TEXT if c.encoding == "json" else BINARY
    payload = wire(c, {"id": 500, "ping": {"clientTime": 5}})
    c.pending[500] = ("raw", {})
    c.raw.send(own, payload[:1], fin=False)
    c.raw.send(0x9, b"hello")
    for byte in payload[1:-1]:
        c.raw.send(CONTINUATION, bytes([byte]), fin=False)
    c.raw.send(CONTINUATION, b"", fin=False)
    c.raw.send(CONTINUATION, payload[-1:], fin=True)
    assert (await c.reply(500))["clientTime"] == 5
    assert c.raw.pongs == [b"hello"]


async def test_byte_by_byte(hf):
    "TCP has no message borders: every byte in a packet of its own"
    c = await hf.player()
    own = TEXT if c.encoding == "json" else BINARY
    c.pending[500] = ("raw", {})
    for byte in frame_bytes(own, wire(c, {"id": 500, "ping": {"clientTime": 5}})):
        c.raw.write(bytes([byte]))
        await asyncio.sleep(0)
    assert (await c.reply(500))["clientTime"] == 5


async def test_a_flood(hf):
    'errors.md 3; "The process never dies or stalls": one link\'s flood does not keep another waiting'
    a, b = await hf.players(2)
    a.may_answer_unasked = True
    own = TEXT if a.encoding == "json" else BINARY
    one = frame_bytes(own, wire(a, {"ping": {"clientTime": 5}}))
    for _ in range(20):
        a.raw.write(one * 500)
        await b.request("ping", {"clientTime": 1}, timeout=2)
    await b.fence()


async def test_many_links_that_come_and_go(hf):
    '"floods": links opened and dropped at every stage'
    a = await hf.player()
    for turn in range(30):
        c = hf.client()
        await c.open()
        if turn % 3:
            c.post("connect", {"token": c.token})
        if turn % 3 == 2:
            c.post("createRoom", {"room": hf.config()})
        c.drop(reset=bool(turn % 2))
    await a.fence()
