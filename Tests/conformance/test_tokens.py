"""auth.md, "Tokens"."""

import hashlib
import json
import time

import pytest

import tokens
from tokens import DAY, b64, claims_of, signed, token

HEADER = {"alg": "HS256", "typ": "JWT"}


async def accepted(hf, value, player):
    c = hf.client(player, token=value)
    await c.open()
    reply = await c.connect()
    assert reply["playerId"] == player
    return c


async def refused(hf, value):
    """12, `disconnected` 12, the end (errors.md: "An error never closes a link, except 12 … on `connect`")."""
    c = hf.client()
    await c.open()
    reply = await c.refused(12, "connect", {"token": value})
    await c.goodbye(12)
    assert reply["message"]
    return reply["message"]


@pytest.mark.once
@pytest.mark.parametrize("player", ["a", "x" * 64, "user@example.com", "0", "~!#$%&'*+-./:;<=>?@[]^_`{|}\"\\"])
async def test_players(hf, player):
    '"`sub` player id (1…64 bytes of printable ASCII)"'
    await accepted(hf, token(player), player)


@pytest.mark.once
@pytest.mark.parametrize("player", ["", "x" * 65, "é", "a\nb", "a\u0000", "\u007f", "💥", 5, None, ["a"]])
async def test_not_players(hf, player):
    '"`sub` player id (1…64 bytes of printable ASCII)"; "one over its limit …: 12 …, and the message says which"'
    assert "sub" in await refused(hf, token(player))


@pytest.mark.parametrize("claim", ["iss", "sub", "iat", "exp", "scope"])
async def test_a_missing_claim(hf, claim):
    '"a missing claim …: 12 …, and the message says which"'
    message = await refused(hf, token("p", drop=(claim,)))
    if claim != "iss":
        assert claim in message, message


@pytest.mark.once
@pytest.mark.parametrize(
    "claim,value",
    [
        ("iat", "now"),
        ("exp", "later"),
        ("iat", None),
        ("exp", []),
        ("scope", 5),
        ("scope", ""),
        ("iss", 5),
        ("iss", ""),
        ("iss", ["acme"]),
    ],
)
async def test_a_claim_of_another_type(hf, claim, value):
    "a claim that is not what auth.md says is a missing one"
    await refused(hf, token("p", **({"project": value} if claim == "iss" else {claim: value})))


@pytest.mark.once
async def test_the_algorithm(hf):
    '"JWT, HS256 with the project\'s secret."; "Another `alg` …: 12"'
    claims = claims_of("p")
    body = b64(json.dumps(claims).encode())
    for alg in ("none", "None", "NONE", "nOnE", ""):
        head = b64(json.dumps({"alg": alg, "typ": "JWT"}).encode())
        await refused(hf, f"{head}.{body}.")
        await refused(hf, signed({"alg": alg, "typ": "JWT"}, claims, tokens.SECRET))
    await refused(hf, signed({"alg": "HS512", "typ": "JWT"}, claims, tokens.SECRET, hashlib.sha512))
    await refused(hf, signed({"alg": "HS384", "typ": "JWT"}, claims, tokens.SECRET, hashlib.sha384))
    await refused(hf, signed({"alg": "RS256", "typ": "JWT"}, claims, tokens.SECRET))
    await refused(hf, signed({"typ": "JWT"}, claims, tokens.SECRET))
    await refused(hf, signed({"alg": "hs256"}, claims, tokens.SECRET))
    await refused(hf, signed({"alg": ["HS256"]}, claims, tokens.SECRET))
    player = hf.name()
    await accepted(hf, signed({"alg": "HS256"}, claims_of(player), tokens.SECRET), player)


async def test_the_signature(hf):
    '"a bad signature …: 12"'
    good = token("p")
    head, body, mac = good.split(".")
    await refused(hf, token("p", secret="another secret"))
    await refused(hf, f"{head}.{body}.")
    await refused(hf, f"{head}.{body}.{mac[:-4]}")
    await refused(hf, f"{head}.{body}.{mac}AAAA")
    await refused(hf, f"{head}.{body}.{'A' * len(mac)}")
    await refused(hf, f"{head}.{b64(json.dumps(claims_of('q')).encode())}.{mac}")


async def test_projects(hf):
    '"an unknown project …: 12"; a token of one project signed with another\'s secret is a bad signature'
    await refused(hf, token("p", project="nobody"))
    await refused(hf, token("p", project=tokens.OTHER_PROJECT))
    await refused(hf, token("p", secret=tokens.OTHER_SECRET))
    await refused(hf, token("p", secret=""))


async def test_two_secrets(hf):
    '"A project may have two secrets at a time, for rotation."'
    for secret in (tokens.OTHER_SECRET, tokens.OTHER_SECOND):
        player = hf.name()
        await accepted(hf, token(player, project=tokens.OTHER_PROJECT, secret=secret), player)
    await refused(hf, token("p", project=tokens.PROJECT, secret=tokens.OTHER_SECOND))


@pytest.mark.once
async def test_times_that_pass(hf):
    '"60 s of clock skew is tolerated."; "`exp` (at most 30 days after `iat`)"'
    for iat, exp in ((-3600, -30), (40, 3600), (0, 30 * DAY), (-29 * DAY, DAY), (-10, 1)):
        player = hf.name()
        now = int(time.time())
        await accepted(hf, token(player, iat=now + iat, exp=now + exp), player)


@pytest.mark.once
@pytest.mark.parametrize(
    "iat,exp",
    [
        (-3600, -120),
        (3000, 4000),
        (0, 30 * DAY + 1),
        (-1_700_000_000, 60),
        (0, 400 * DAY),
        (-60 * DAY, -40 * DAY),
        (10, 2**62),
    ],
)
async def test_times_that_do_not(hf, iat, exp):
    '"expired or not yet valid: 12"; "`exp` (at most 30 days after `iat`)"'
    now = int(time.time())
    await refused(hf, token("p", iat=now + iat, exp=now + exp))


@pytest.mark.once
async def test_names_and_avatars(hf):
    '"optional `name` (≤ 64 bytes) and `avatar` (≤ 512 bytes)"'
    player = hf.name()
    await accepted(hf, token(player, name="é" * 32, avatar="https://x/" + "a" * 502), player)
    assert "name" in await refused(hf, token("p", name="é" * 32 + "x"))
    assert "avatar" in await refused(hf, token("p", avatar="a" * 513))


@pytest.mark.once
@pytest.mark.parametrize("scope", ["admin", "battles", "Battle", "battle admin", "*"])
async def test_scopes(hf, scope):
    'errors.md 12: "its scope does not allow the call"'
    await refused(hf, token("p", scope=scope))


# Made when the tests are collected: within its hour, so that nothing but what is broken can be wrong.
GOOD = token("p")
HEAD, BODY, MAC = GOOD.split(".")


@pytest.mark.once
@pytest.mark.parametrize(
    "value",
    [
        "x",
        ".",
        "..",
        "...",
        f"{HEAD}.{BODY}",
        f"{GOOD}.x",
        f".{BODY}.{MAC}",
        f"{HEAD}..{MAC}",
        f" {GOOD}",
        f"{GOOD} ",
        f"Bearer {GOOD}",
        f"{HEAD}!.{BODY}.{MAC}",
        signed(HEADER, b64(b"[]"), tokens.SECRET),
        signed(HEADER, b64(b"null"), tokens.SECRET),
        signed(HEADER, b64(b"{"), tokens.SECRET),
        signed(HEADER, b64(b""), tokens.SECRET),
        signed(HEADER, "!!!!", tokens.SECRET),
        signed(b64(b"[]"), claims_of("p"), tokens.SECRET),
        signed(HEADER, b64(b'{"iss":"acme","sub":"\xff\xfe"}'), tokens.SECRET),
        signed(HEADER, b64(b'{"iss":"acme","sub":' + b"[" * 5000), tokens.SECRET),
        "a" * 60_000,
        "." * 60_000,
        "é.ü.💥",
        "\u0000.\u0000.\u0000",
    ],
)
async def test_no_tokens_at_all(hf, value):
    '"Another `alg`, a missing claim, …, a bad signature …: 12"; forged tokens of every form'
    await refused(hf, value)


@pytest.mark.once
async def test_claims_nobody_knows(hf):
    "a token may say more than auth.md asks for"
    player = hf.name()
    await accepted(hf, token(player, jti="x", aud=["a"], custom={"deep": [1, 2, {"x": None}]}), player)


async def test_a_refused_token_changes_nothing(hf):
    '"Anything from outside gets the code … and changes nothing": a forged connect does not end the real run'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    await refused(hf, token(a.player, secret="forged"))
    await refused(hf, token(a.player, iat=1_700_000_000, exp=1_700_003_600))
    assert not a.raw.ended
    assert all(not events for events in (await room.told()).values())


@pytest.mark.once
async def test_expiry_ends_no_link(hf):
    'rooms.md: "A live resume goes first …, even when it has expired"; the token is looked at when connecting'
    player = hf.name()
    c = await accepted(hf, token(player, iat=int(time.time()) - 600, exp=int(time.time()) - 57), player)
    await hf.room(c)
    c.drop()
    assert (await c.resume())["resumed"]
