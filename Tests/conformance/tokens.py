"""Tokens as auth.md describes them, and every kind of wrong one."""

import base64
import hashlib
import hmac
import json
import time

PROJECT, SECRET = "acme", "acme-secret-for-tests-0123456789abcdef"
OTHER_PROJECT, OTHER_SECRET, OTHER_SECOND = (
    "beta",
    "beta-secret-for-tests-0123456789abcdef",
    "beta-second-secret-0123456789abcdef",
)
DAY = 86_400


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(header, claims, secret, digest=hashlib.sha256):
    head = header if isinstance(header, str) else b64(json.dumps(header).encode())
    body = claims if isinstance(claims, str) else b64(json.dumps(claims).encode())
    mac = hmac.new(secret.encode(), f"{head}.{body}".encode(), digest).digest()
    return f"{head}.{body}.{b64(mac)}"


def claims_of(player, *, project=PROJECT, drop=(), **other):
    now = int(time.time())
    claims = {"iss": project, "sub": player, "iat": now, "exp": now + 3600, "scope": "battle"}
    claims.update(other)
    return {k: v for k, v in claims.items() if k not in drop}


def token(player, *, secret=SECRET, header=None, **claims):
    return signed(header or {"alg": "HS256", "typ": "JWT"}, claims_of(player, **claims), secret)
