"""A WebSocket client over a bare TCP connection that does what it is told, also what RFC 6455 forbids.

What the server sends is checked against the RFC strictly; what the test sends is not checked at all.
"""

import asyncio
import base64
import hashlib
import os
import socket
import struct

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA


class Refused(Exception):
    """The server answered the upgrade with something else than 101."""

    def __init__(self, status, headers, body):
        super().__init__(f"upgrade refused with HTTP {status}: {body[:200]!r}")
        self.status, self.headers, self.body = status, headers, body


def frame_bytes(opcode, payload=b"", *, fin=True, mask=True, rsv=0, length=None, key=None):
    """One frame. `length` overrides what the header claims (an int, or the raw bytes of the length field)."""
    head = bytearray([(0x80 if fin else 0) | (rsv << 4) | opcode])
    bit = 0x80 if mask else 0
    if isinstance(length, bytes):
        head.append(bit | length[0])
        head += length[1:]
    else:
        size = len(payload) if length is None else length
        if size < 126:
            head.append(bit | size)
        elif size < 65536:
            head.append(bit | 126)
            head += struct.pack(">H", size)
        else:
            head.append(bit | 127)
            head += struct.pack(">Q", size)
    if not mask:
        return bytes(head) + payload
    key = os.urandom(4) if key is None else key
    head += key
    return bytes(head) + apply_mask(payload, key)


def apply_mask(payload, key):
    size = len(payload)
    if not size:
        return b""
    stream = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(stream, "big")).to_bytes(size, "big")


class RawSocket(asyncio.Protocol):
    """A TCP connection; after `upgrade` a WebSocket. Callbacks: `on_message(opcode, payload)`, `on_end()`."""

    def __init__(self):
        self.transport = None
        self.buffer = bytearray()
        self.upgraded = False
        self.answer_pings = True
        self.discard = False
        self.pings = []  # loop times at which a WebSocket ping came
        self.pongs = []  # payloads of WebSocket pongs
        self.problems = []  # what the server did against the RFC
        self.close_code = None  # code of the server's close frame; 1005 when it had none
        self.ended = False  # the TCP connection is over
        self.end_error = None
        self.on_message = lambda opcode, payload: None
        self.on_end = lambda: None
        self._parts = None
        self._wakers = []

    # -- asyncio.Protocol

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        if self.discard:
            return
        self.buffer += data
        if self.upgraded:
            self._parse()
        self._wake()

    def eof_received(self):
        return False

    def connection_lost(self, error):
        self.ended, self.end_error = True, error
        self.on_end()
        self._wake()

    # -- waiting

    def _wake(self):
        wakers, self._wakers = self._wakers, []
        for waker in wakers:
            if not waker.done():
                waker.set_result(None)

    async def until(self, condition, timeout=5.0, what="the condition"):
        """Waits until `condition()` is true; it is looked at again whenever bytes or the end come."""
        deadline = asyncio.get_running_loop().time() + timeout
        while not condition():
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise AssertionError(f"nothing within {timeout} s: {what}")
            waker = asyncio.get_running_loop().create_future()
            self._wakers.append(waker)
            try:
                await asyncio.wait_for(waker, left)
            except asyncio.TimeoutError:
                pass

    async def until_ended(self, timeout=5.0):
        await self.until(lambda: self.ended, timeout, "the end of the connection")

    # -- opening

    @classmethod
    async def open(cls, address, *, receive_buffer=None, limit_timeout=5.0):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setblocking(False)
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop = asyncio.get_running_loop()
        try:
            await asyncio.wait_for(loop.sock_connect(sock, address), limit_timeout)
        except BaseException:
            sock.close()
            raise
        _, raw = await loop.create_connection(cls, sock=sock)
        return raw

    async def http_answer(self, timeout=5.0, head_only=False):
        """Reads one HTTP answer: status, headers (lower case), body."""
        await self.until(lambda: b"\r\n\r\n" in self.buffer or self.ended, timeout, "an HTTP answer")
        if b"\r\n\r\n" not in self.buffer:
            raise ConnectionError(f"the connection ended before an HTTP answer: {bytes(self.buffer)!r}")
        head, _, _ = bytes(self.buffer).partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split(" ")[1])
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        del self.buffer[: len(head) + 4]
        if status == 101 or head_only:
            return status, headers, b""
        if "content-length" in headers:
            size = int(headers["content-length"])
            await self.until(lambda: len(self.buffer) >= size or self.ended, timeout, "the body")
            body = bytes(self.buffer[:size])
            del self.buffer[:size]
        elif headers.get("transfer-encoding", "").lower() == "chunked":
            body = await self._chunked(timeout)
        else:
            await self.until_ended(timeout)
            body = bytes(self.buffer)
        return status, headers, body

    async def _chunked(self, timeout):
        body = b""
        while True:
            await self.until(lambda: b"\r\n" in self.buffer or self.ended, timeout, "a chunk")
            line, _, _ = bytes(self.buffer).partition(b"\r\n")
            size = int(line.split(b";")[0], 16)
            whole = len(line) + 2 + size + 2
            await self.until(lambda: len(self.buffer) >= whole or self.ended, timeout, "a chunk")
            body += bytes(self.buffer[len(line) + 2 : len(line) + 2 + size])
            del self.buffer[:whole]
            if size == 0:
                return body

    async def upgrade(self, path="/v1/connect", subprotocols=(), headers=(), timeout=5.0, early=b""):
        """The opening handshake. `early` goes out in the same write, before the answer has come."""
        key = base64.b64encode(os.urandom(16))
        lines = [
            f"GET {path} HTTP/1.1",
            "Host: 127.0.0.1",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key.decode()}",
            "Sec-WebSocket-Version: 13",
        ]
        if subprotocols:
            lines.append("Sec-WebSocket-Protocol: " + ", ".join(subprotocols))
        lines += headers
        self.transport.write(("\r\n".join(lines) + "\r\n\r\n").encode() + early)
        status, answer, body = await self.http_answer(timeout)
        if status != 101:
            raise Refused(status, answer, body)
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
        assert answer.get("sec-websocket-accept") == accept, "wrong Sec-WebSocket-Accept"
        assert answer.get("upgrade", "").lower() == "websocket", answer
        assert "upgrade" in answer.get("connection", "").lower(), answer
        self.upgraded = True
        self._parse()
        return answer

    # -- sending

    def write(self, data):
        if not self.ended and self.transport is not None:
            self.transport.write(data)

    def send(self, opcode, payload=b"", **how):
        self.write(frame_bytes(opcode, payload, **how))

    def close_frame(self, code=1000, reason=b""):
        self.send(CLOSE, struct.pack(">H", code) + reason if code is not None else b"")

    def end(self):
        """Ends with FIN and no close frame."""
        if self.transport is not None:
            self.transport.close()

    def reset(self):
        """Ends with RST."""
        if self.transport is None or self.ended:
            return
        sock = self.transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def stop_reading(self):
        if not self.ended:
            self.transport.pause_reading()

    def go_on_reading(self):
        if not self.ended:
            self.transport.resume_reading()

    # -- receiving

    def _parse(self):
        while True:
            buffer = self.buffer
            if len(buffer) < 2:
                return
            first, second = buffer[0], buffer[1]
            size, at = second & 0x7F, 2
            if size == 126:
                if len(buffer) < 4:
                    return
                size, at = struct.unpack_from(">H", buffer, 2)[0], 4
                if size < 126:
                    self.problems.append("length not in its shortest form")
            elif size == 127:
                if len(buffer) < 10:
                    return
                size, at = struct.unpack_from(">Q", buffer, 2)[0], 10
                if size < 65536:
                    self.problems.append("length not in its shortest form")
            if second & 0x80:
                self.problems.append("a masked frame from the server")
                at += 4
            if len(buffer) < at + size:
                return
            payload = bytes(buffer[at : at + size])
            del buffer[: at + size]
            self._frame(first, payload)

    def _frame(self, first, payload):
        fin, opcode = first & 0x80, first & 0x0F
        if first & 0x70:
            self.problems.append("reserved bits without an extension")
        if opcode >= 8:
            if not fin or len(payload) > 125:
                self.problems.append("a fragmented or long control frame")
            self._control(opcode, payload)
        elif self.close_code is not None:
            self.problems.append("data after a close frame")
        elif opcode == CONTINUATION:
            if self._parts is None:
                self.problems.append("a continuation without a beginning")
                return
            self._parts[1] += payload
            if fin:
                kind, whole = self._parts
                self._parts = None
                self.on_message(kind, bytes(whole))
        elif opcode in (TEXT, BINARY):
            if self._parts is not None:
                self.problems.append("a new message inside a fragmented one")
            if fin:
                self.on_message(opcode, payload)
            else:
                self._parts = [opcode, bytearray(payload)]
        else:
            self.problems.append(f"unknown opcode {opcode}")

    def _control(self, opcode, payload):
        if opcode == PING:
            self.pings.append(asyncio.get_running_loop().time())
            if self.answer_pings:
                self.send(PONG, payload)
        elif opcode == PONG:
            self.pongs.append(payload)
        elif opcode == CLOSE:
            self.close_code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
            if self.answer_pings:
                self.send(CLOSE, payload[:2])
                self.transport.close()
        else:
            self.problems.append(f"unknown control opcode {opcode}")
