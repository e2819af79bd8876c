"""Starts the server under test with a config file for each profile of settings: one node, or with HOLDFAST_CLUSTER a
cluster of three behind etcd, in which hardly anybody's connection is where the room is."""

import itertools
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

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


def config_of(profile, port):
    return {
        "listen": "127.0.0.1",
        "port": port,
        "limits": PROFILES[profile],
        "projects": [
            {"key": tokens.PROJECT, "secret": tokens.SECRET},
            {"key": tokens.OTHER_PROJECT, "secret": tokens.OTHER_SECRET, "secondSecret": tokens.OTHER_SECOND},
        ],
    }


class Server:
    def __init__(self, profile="default", directory=None, arguments=None, scheme="http"):
        self.profile = profile
        self.is_temporary = directory is None
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="holdfast-conformance-"))
        path = self.directory / f"{profile}.json"
        path.write_text(json.dumps(config_of(profile, 0)))
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


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Etcd:
    """One member, for all clusters: each has keys of its own there."""

    def __init__(self, directory):
        program = os.environ.get("HOLDFAST_ETCD") or shutil.which("etcd") or str(ROOT / ".cache/etcd/usr/bin/etcd")
        clients, peers = free_ports(2)
        self.url, peer = f"http://127.0.0.1:{clients}", f"http://127.0.0.1:{peers}"
        self.output = open(directory / "etcd.log", "wb")
        self.process = subprocess.Popen(
            [
                *(program, "--name", "e", "--data-dir", str(directory / "etcd")),
                *("--listen-client-urls", self.url, "--advertise-client-urls", self.url),
                *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"e={peer}"),
            ],
            stdout=self.output,
            stderr=self.output,
            stdin=subprocess.DEVNULL,
        )

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.output.close()


class Cluster:
    """Three nodes with the settings of a profile; connections go to both gateways in turn."""

    ROLES = {"a": "gateway", "b": "gateway,room", "c": "room,matchmaker"}

    def __init__(self, profile, etcd, directory):
        self.profile = profile
        self.processes, self.logs, addresses = [], [], {}
        ports = free_ports(2 * len(self.ROLES))
        for name, roles in self.ROLES.items():
            port, link = ports.pop(), ports.pop()
            path = directory / f"{profile}-{name}.json"
            path.write_text(json.dumps(config_of(profile, port)))
            self.logs.append(directory / f"{profile}-{name}.stderr")
            arguments = ["--config", str(path), "--node-id", name, "--roles", roles, "--etcd", etcd.url]
            arguments += ["--cluster", profile, "--link", f"tcp://127.0.0.1:{link}", "--bootstrap"]
            with open(self.logs[-1], "ab") as log:
                self.processes.append(
                    subprocess.Popen(
                        [binary(), "serve", *arguments], stdout=log, stderr=log, stdin=subprocess.DEVNULL
                    )
                )
            addresses[name] = ("127.0.0.1", port)
        self._ready(addresses.values())
        self.gateways = itertools.cycle([addresses["a"], addresses["b"]])

    def _ready(self, addresses, timeout=60):
        deadline = time.monotonic() + timeout
        for host, port in addresses:
            while True:
                try:
                    with urllib.request.urlopen(f"http://{host}:{port}/readyz", timeout=1):
                        break
                except OSError:
                    if time.monotonic() > deadline or not self.alive():
                        self.stop()
                        raise RuntimeError(f"the cluster did not get ready\n{self.tail()}") from None
                    time.sleep(0.1)

    @property
    def address(self):
        return next(self.gateways)

    def alive(self):
        return all(process.poll() is None for process in self.processes)

    def tail(self, size=8000):
        return "\n".join(log.read_bytes()[-size:].decode("utf-8", "replace") for log in self.logs if log.exists())

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


class Servers:
    """One server, or one cluster, for each profile, started when first asked for."""

    def __init__(self):
        self.running = {}
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-conformance-"))
        self.etcd = Etcd(self.directory) if os.environ.get("HOLDFAST_CLUSTER") else None

    def __getitem__(self, profile):
        server = self.running.get(profile)
        if server is None or not server.alive():
            made = Cluster(profile, self.etcd, self.directory) if self.etcd else Server(profile)
            server = self.running[profile] = made
        return server

    def stop(self):
        for server in self.running.values():
            server.stop()
        if self.etcd:
            self.etcd.stop()
        shutil.rmtree(self.directory, ignore_errors=True)
