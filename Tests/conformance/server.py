"""Starts the server under test with a config file for each profile of settings."""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

import tokens

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Shorter windows for tests that wait for them to end; everything else stands at the spec's default.
PROFILES = {
    "default": {},
    "quick": {"resumeWindowMs": 1600, "offlineAfterMs": 400, "nobodyOnlineMs": 900},
    "offline": {"offlineAfterMs": 300},
    "beat": {"heartbeatMs": 400, "offlineAfterMs": 300},
    "short": {"frameSyncMs": 1200, "eventHistoryMs": 400},
    "small": {"frameHistoryBytes": 40_000, "eventHistoryBytes": 8_000},
}


def binary():
    chosen = os.environ.get("HOLDFAST_BIN")
    if chosen:
        return chosen
    for place in (".build/release/holdfast", ".build/debug/holdfast"):
        if (ROOT / place).exists():
            return str(ROOT / place)
    raise RuntimeError("no server: build the product `holdfast` or set HOLDFAST_BIN")


class Server:
    def __init__(self, profile="default", directory=None, arguments=None, scheme="http"):
        self.profile = profile
        self.is_temporary = directory is None
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="holdfast-conformance-"))
        config = {
            "listen": "127.0.0.1",
            "port": 0,
            "limits": PROFILES[profile],
            "projects": [
                {"key": tokens.PROJECT, "secret": tokens.SECRET},
                {"key": tokens.OTHER_PROJECT, "secret": tokens.OTHER_SECRET, "secondSecret": tokens.OTHER_SECOND},
            ],
        }
        path = self.directory / f"{profile}.json"
        path.write_text(json.dumps(config))
        self.errors = self.directory / f"{profile}.stderr"
        with open(self.errors, "wb") as stderr:
            self.process = subprocess.Popen(
                [binary(), "serve", *(arguments or ["--config", str(path)])],
                stdout=subprocess.PIPE,
                stderr=stderr,
                stdin=subprocess.DEVNULL,
            )
        self.address = self._ready(f"holdfast: listening on {scheme}://127.0.0.1:")

    def _ready(self, prefix, timeout=30):
        line, deadline = b"", time.monotonic() + timeout
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or self.process.poll() is not None:
                self.kill()
                raise RuntimeError(f"the server did not get ready; it printed {line!r}\n{self.tail()}")
            if select.select([self.process.stdout], [], [], min(left, 0.2))[0]:
                line += os.read(self.process.stdout.fileno(), 1) or b""
        text = line.decode().strip()
        if not text.startswith(prefix):
            self.kill()
            raise RuntimeError(f"not the ready line: {text!r}")
        return "127.0.0.1", int(text[len(prefix) :].rstrip("/"))

    def alive(self):
        return self.process.poll() is None

    def tail(self, size=4000):
        data = self.errors.read_bytes() if self.errors.exists() else b""
        return data[-size:].decode("utf-8", "replace")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.process.stdout:
            self.process.stdout.close()
        if self.is_temporary:
            shutil.rmtree(self.directory, ignore_errors=True)


class Servers:
    """One server for each profile, started when first asked for."""

    def __init__(self):
        self.running = {}

    def __getitem__(self, profile):
        server = self.running.get(profile)
        if server is None or not server.alive():
            server = self.running[profile] = Server(profile)
        return server

    def stop(self):
        for server in self.running.values():
            server.stop()
