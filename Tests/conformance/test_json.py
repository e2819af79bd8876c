"""holdfast.proto, header: what the JSON encoding reads, and what it refuses with 11 or 16."""

import base64
import json

import pytest

pytestmark = pytest.mark.once


async def answer(client, text, number):
    """Sends a text and takes the answer with this id, or the next error without one."""
    client.pending[number] = ("raw", {})
    client.causes = False
    client.strays.clear()
    client.replies.pop(0, None)
    client.send_bytes(text)
    await client.until(lambda: client.replies.get(number) or client.strays, what=f"an answer to {text[:200]}")
    client.pending.pop(number, None)
    return client.replies[number].pop(0) if client.replies.get(number) else client.strays.pop(0)


async def refused(client, text, code=11, number=7):
    reply = await answer(client, text, number)
    assert reply.kind == "error" and reply["code"] == code, f"{text[:200]!r} should be {code}, came {reply}"
    assert reply.id in (0, number)
    return reply


@pytest.mark.parametrize("form", ["5", '"5"', "5.0", "5e0", "50e-1", "0.5e1", "5.000"])
async def test_forms_of_an_integer(hf, form):
    '"It reads every form that the mapping allows: `5`, `"5"`, `5.0`, `5e0` are the same integer"'
    c = await hf.player()
    reply = await answer(c, f'{{"id":7,"ping":{{"clientTime":{form}}}}}', 7)
    assert reply.kind == "pong" and reply["clientTime"] == 5
    reply = await answer(c, f'{{"id":{form},"ping":{{"clientTime":1}}}}', 5)
    assert reply.kind == "pong" and reply.id == 5


@pytest.mark.parametrize(
    "form,value",
    [
        ("9223372036854775807", 2**63 - 1),
        ('"9223372036854775807"', 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ('"-9223372036854775808"', -(2**63)),
        ("-0", 0),
        ("1e3", 1000),
        ("9007199254740993", 9007199254740993),
    ],
)
async def test_wide_integers(hf, form, value):
    "the mapping: 64-bit integers as strings or numbers, without loss"
    c = await hf.player()
    reply = await answer(c, f'{{"id":7,"ping":{{"clientTime":{form}}}}}', 7)
    assert reply.kind == "pong" and reply["clientTime"] == value
    assert f'"clientTime":"{value}"' in reply.raw.decode().replace(" ", "")


@pytest.mark.parametrize(
    "form",
    [
        "1.5",
        '"1.5"',
        "9223372036854775808",
        '"-9223372036854775809"',
        "1e30",
        "true",
        '""',
        '"x"',
        "[]",
        "{}",
        '"0x10"',
        "1e400",
        "NaN",
        "Infinity",
        '" 5"',
        "05",
        "+5",
        "5.",
    ],
)
async def test_bad_integers(hf, form):
    '"1.5, a value out of range, a wrong type …: error 11"'
    c = await hf.player()
    await refused(c, f'{{"id":7,"ping":{{"clientTime":{form}}}}}')
    await c.fence()


@pytest.mark.parametrize(
    "body", ['{"status":2147483648}', '{"status":-2147483649}', '{"status":"x"}', '{"status":1.25}', '{"status":false}']
)
async def test_int32_out_of_range(hf, body):
    '"a value out of range, a wrong type": 11'
    c = await hf.player()
    await hf.room(c)
    await refused(c, f'{{"id":700,"updatePlayerCustomStatus":{body}}}', number=700)
    await c.nothing()


@pytest.mark.parametrize(
    "text",
    [
        '{"id":7,"createRoom":{"room":{"maxPlayerCount":-1,"type":"t"}}}',
        '{"id":7,"createRoom":{"room":{"maxPlayerCount":4294967296,"type":"t"}}}',
        '{"id":7,"createRoom":{"room":{"maxPlayerCount":2,"type":5}}}',
        '{"id":7,"createRoom":{"room":{"maxPlayerCount":2,"type":["t"]}}}',
        '{"id":7,"createRoom":{"room":{"maxPlayerCount":2,"type":"t","hidden":"true"}}}',
        '{"id":7,"createRoom":{"room":{"maxPlayerCount":2,"type":"t","hidden":1}}}',
        '{"id":7,"createRoom":{"room":{"maxPlayerCount":2,"type":"t","matchParams":[]}}}',
        '{"id":7,"createRoom":{"room":{"maxPlayerCount":2,"type":"t","matchParams":{"a":1}}}}',
        '{"id":7,"createRoom":{"room":[]}}',
        '{"id":7,"createRoom":[]}',
        '{"id":7,"createRoom":"x"}',
        '{"id":7,"createRoom":5}',
        '{"id":7,"createRoom":true}',
        '{"id":-1,"ping":{}}',
        '{"id":4294967296,"ping":{}}',
        '{"id":"x","ping":{}}',
        '{"id":7,"sendCustomMessage":{"msg":"x","type":1,"receivers":"abc"}}',
        '{"id":7,"sendCustomMessage":{"msg":"x","type":1,"receivers":[1]}}',
        '{"id":7,"sendFrameInput":{"dataBytes":"not base64!"}}',
        '{"id":7,"sendFrameInput":{"dataBytes":5}}',
        '{"id":7,"sendFrameInput":{"data":"x","dataBytes":"eA=="}}',
    ],
)
async def test_wrong_types(hf, text):
    '"a value out of range, a wrong type, a key twice, two bodies …: error 11"'
    c = await hf.player()
    await refused(c, text)
    await c.fence()


@pytest.mark.parametrize(
    "text",
    [
        '{"id":7,"id":7,"ping":{}}',
        '{"id":7,"ping":{},"ping":{}}',
        '{"id":7,"ping":{"clientTime":1,"clientTime":1}}',
        '{"id":7,"createRoom":{"room":{"maxPlayerCount":2,"type":"t","matchParams":{"a":"1","a":"2"}}}}',
    ],
)
async def test_a_key_twice(hf, text):
    '"a key twice …: error 11"'
    c = await hf.player()
    await refused(c, text)


@pytest.mark.parametrize("text", ['{"id":7,"ping":{},"leaveRoom":{}}', '{"id":7,"leaveRoom":{},"ping":{}}'])
async def test_two_bodies(hf, text):
    '"two bodies …: error 11"'
    c = await hf.player()
    await refused(c, text)


@pytest.mark.parametrize(
    "escape", ["\\ud800", "\\udc00", "\\udc00\\ud800", "\\ud800x", "\\ud800\\u0041", "\\ud83d\\ud83d"]
)
async def test_a_lone_surrogate(hf, escape):
    '"a lone surrogate …: error 11"'
    c = await hf.player()
    await refused(c, f'{{"id":7,"createRoom":{{"room":{{"maxPlayerCount":2,"type":"t","name":"{escape}"}}}}}}')


async def test_escapes(hf):
    "JSON strings: every escape, surrogate pairs"
    a, b = await hf.players(2)
    await hf.room(a, b)
    reply = await answer(
        a, '{"id":700,"sendCustomMessage":{"msg":"\\ud83d\\ude00\\u00e9\\n\\t\\"\\\\\\/\\b\\f\\r\\u0000"}}', 700
    )
    assert reply.kind == "ok"
    assert (await b.event())["msg"] == '😀é\n\t"\\/\b\f\r\u0000'


@pytest.mark.parametrize(
    "text",
    [
        '{"id":7,"ping":{}}x',
        '{"id":7,"ping":{}}{}',
        '{"id":7,"ping":{}},',
        '{"id":7,"ping":{}} null',
        '{"id":7,"ping":{}}\u0000',
    ],
)
async def test_bytes_after_the_value(hf, text):
    '"bytes after the value …: error 11"'
    c = await hf.player()
    await refused(c, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "}",
        "[",
        "[]",
        "true",
        "5",
        '"x"',
        "{}x",
        '{"id":7,}',
        '{"id":7 "ping":{}}',
        "{'id':7}",
        "{id:7}",
        '{"id":7,"ping":{}',
        '{"id":7,"ping":{"clientTime":}}',
        '{"id":7,"ping":{"a":tru}}',
        '{"id":7,"ping":{"a":"\x01"}}',
        '{"id":7,"ping":{"a":"\\x"}}',
        '{"id":7,"ping":{"a":"\\u12"}}',
        '/* c */{"id":7,"ping":{}}',
        '\ufeff{"id":7,"ping":{}}',
        '{"id":7,"ping":{"a":01}}',
        '{"id":7,"ping":{"a":.5}}',
        '{"id":7,"ping":{"a":1.}}',
        '{"id":7,"ping":{"a":-}}',
        '{"":{}',
        '{"id":7,"ping":{"a":[1,]}}',
        '{"id":7,"ping":{"a":{,}}}',
        '{"id":7,"ping":{"a":"',
    ],
)
async def test_malformed(hf, text):
    'errors.md: "11 invalidRequest: malformed"; "If no id can be read from a bad message, the error carries none."'
    c = await hf.player()
    await refused(c, text)
    await c.fence()


async def test_truncated_at_every_byte(hf):
    'errors.md: "11 … malformed"; one at a time, so that no 20 come in a row'
    c = await hf.player()
    text = json.dumps({"id": 7, "createRoom": {"room": {"maxPlayerCount": 2, "type": "t", "matchParams": {"a": "b"}}}})
    for size in range(1, len(text)):
        await refused(c, text[:size])
        if size % 10 == 0:
            await c.fence()
    await c.refused(20, "leaveRoom")


async def test_unknown_fields(hf):
    '"Unknown fields are ignored in both encodings, so that either side may be newer."'
    c = await hf.player()
    text = (
        '{"more":[1,{"a":null,"b":[true,false,1.5e300,"x"]}],"id":7,"x":{"ping":{}},"ping":{"clientTime":3,'
        '"other":{"deep":[[[]]]},"n":123456789012345678901234567890},"z":"\\ud83d\\ude00"}'
    )
    reply = await answer(c, text, 7)
    assert reply.kind == "pong" and reply["clientTime"] == 3
    reply = await answer(c, '{"id":8,"createRoom":{"room":{"maxPlayerCount":2,"type":"t","colour":"red"},"x":1}}', 8)
    assert reply.kind == "roomJoined"


@pytest.mark.parametrize(
    "text", ['{"id":7}', '{"id":7,"fly":{}}', '{"id":7,"ping":null}', '{"id":7,"fly":{"a":[1]},"ping":null}']
)
async def test_no_known_body(hf, text):
    '"No known body: 16."; "`null` is absent"'
    c = await hf.player()
    reply = await refused(c, text, 16)
    assert reply.id == 7


async def test_null_is_absent(hf):
    '"`null` is absent"'
    c = await hf.player()
    reply = await answer(c, '{"id":7,"connect":null,"ping":{"clientTime":null},"leaveRoom":null}', 7)
    assert reply.kind == "pong" and reply["clientTime"] == 0
    reply = await answer(
        c,
        '{"id":8,"createRoom":{"player":null,"room":{"maxPlayerCount":2,"type":"t","name":null,'
        '"matchParams":null,"hidden":null}}}',
        8,
    )
    assert reply.kind == "roomJoined"
    reply = await answer(c, '{"id":9,"updateRoomProperties":{"name":null,"customProperties":"x"}}', 9)
    assert reply.kind == "ok"
    changed = await c.event("roomPropertiesChanged")
    assert (changed["name"], changed["customProperties"]) == ("", "x")
    reply = await answer(c, '{"id":10,"sendCustomMessage":{"msg":"x","receivers":null}}', 10)
    assert reply.kind == "ok"


async def test_names_of_the_schema(hf):
    "the mapping: parsers accept lowerCamelCase and the proto's own names"
    c = await hf.player()
    reply = await answer(
        c, '{"id":7,"create_room":{"room":{"max_player_count":3,"type":"t","custom_properties":"x"}}}', 7
    )
    assert reply.kind == "roomJoined" and reply["room"]["maxPlayerCount"] == 3
    assert reply["room"]["customProperties"] == "x"


@pytest.mark.parametrize("text", ["+/+/", "-_-_", "+/8=", "-_8", "-_8=", "+/8", ""])
async def test_forms_of_bytes(hf, text):
    'the mapping: "Either standard or URL-safe base64 encoding with/without paddings are accepted."'
    c = await hf.player()
    await hf.room(c, frameRate=30)
    await c.do("startFrameSync")
    await c.frame(1)
    c.send_bytes(f'{{"id":700,"sendFrameInput":{{"dataBytes":"{text}"}}}}')
    _, got = await c.input_frame(lambda i: i["id"] == 700)
    plain = text.rstrip("=")
    assert got["dataBytes"] == base64.urlsafe_b64decode(
        plain.replace("+", "-").replace("/", "_") + "=" * (-len(plain) % 4)
    )


async def test_whitespace_and_order(hf):
    "JSON: whitespace anywhere, keys in any order, escaped keys"
    c = await hf.player()
    reply = await answer(c, ' \t\r\n{ "ping" : { "client\\u0054ime" : 4 } , "id" : 7 } \n', 7)
    assert reply.kind == "pong" and reply["clientTime"] == 4


@pytest.mark.parametrize("open_,close", [("[", "]"), ('{"a":', "}")])
async def test_depth(hf, open_, close):
    '"more than 32 levels: error 11"'
    c = await hf.player()
    core = "1" if open_ != "[" else ""
    fine = f'{{"id":7,"ping":{{"clientTime":1}},"x":{open_ * 31}{core}{close * 31}}}'
    reply = await answer(c, fine, 7)
    assert reply.kind == "pong", "32 levels, the message itself counted"
    await refused(c, f'{{"id":7,"ping":{{"clientTime":1}},"x":{open_ * 32}{core}{close * 32}}}')
    await refused(c, f'{{"id":7,"x":{open_ * 10000}')
    await refused(c, open_ * 15000)
    await c.fence()


async def test_long_things(hf):
    "a message up to 96 KiB is read: many fields, long keys, long numbers"
    c = await hf.player()
    reply = await answer(c, '{"id":7,"ping":{"clientTime":1},"x":"' + "y" * 90_000 + '"}', 7)
    assert reply.kind == "pong"
    reply = await answer(c, '{"id":7,"ping":{"clientTime":1},"' + "k" * 90_000 + '":1}', 7)
    assert reply.kind == "pong"
    reply = await answer(c, '{"id":7,"ping":{"clientTime":1},"x":[' + "1," * 40_000 + "1]}", 7)
    assert reply.kind == "pong"
    many = ",".join(f'"k{n}":{n}' for n in range(7000))
    reply = await answer(c, '{"id":7,"ping":{"clientTime":1},' + many + "}", 7)
    assert reply.kind == "pong"
    await refused(c, '{"id":7,"ping":{"clientTime":' + "1" * 90_000 + "}}")
    await refused(c, '{"id":7,"ping":{"clientTime":1.' + "0" * 80_000 + "1}}")


async def test_the_servers_json(hf):
    '''"The server's JSON writes scalars and lists even at their default …; it leaves out only the envelope's `id` and
    `seq` at 0, the unused one of `data` and `dataBytes`, and absent messages."'''
    a, b = await hf.players(2)
    joined = await a.do("createRoom", {"room": {"maxPlayerCount": 2, "type": "t"}})
    value = json.loads(joined.raw)
    assert set(value) == {"id", "roomJoined"}
    assert set(value["roomJoined"]) == {"room", "roomSeq"} and isinstance(value["roomJoined"]["roomSeq"], str)
    room = value["roomJoined"]["room"]
    assert (
        room["name"] == "" and room["hidden"] is False and room["status"] == 0 and isinstance(room["createTime"], str)
    )
    assert room["players"] == [{"id": a.player, "status": 1, "customStatus": 0, "customProperties": ""}]
    reply = json.loads((await a.do("getRoomList", {"roomType": hf.name("none")})).raw)
    assert reply["roomList"]["rooms"] == [] and reply["roomList"]["hasMore"] is False
    refusal = json.loads((await b.refused(24, "joinRoom", {"roomId": "nowhere"})).raw)
    assert refusal["error"]["code"] == 24 and refusal["error"]["retryAfterMs"] == 0
    assert json.loads((await a.do("updatePlayerCustomStatus", {"status": 0})).raw)["ok"] == {}
    event = json.loads((await a.event()).raw)
    assert event["playerCustomStatusChanged"]["status"] == 0 and "id" not in event and isinstance(event["seq"], str)
