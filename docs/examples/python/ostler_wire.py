"""Frames of Ostler's wire protocol over a Unix socket or a WebSocket. Python's standard library only."""

import base64
import hashlib
import json
import os
import socket
import ssl
import struct
import time
import uuid
from urllib.parse import urlsplit

MAX_FRAME_BYTES = 4 * 1024 * 1024
ANSWER_SECONDS = 30
MAX_RATE_LIMITED = 10


class Lost(Exception):
    """The connection is gone; whether a request without an answer was carried out is not known."""


class Refused(Exception):
    """The server refused a request; nothing was done."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]


class Wire:
    """One connection. Frames that answer nothing go to `on_frame`, in their order."""

    def __init__(self, link, on_frame):
        self._link = link
        self._on_frame = on_frame

    def call(self, operation, **fields):
        """The answer. A refusal for the rate is waited out, as it means that nothing was done."""
        for _ in range(MAX_RATE_LIMITED):
            try:
                return self._once(operation, fields)
            except Refused as refusal:
                if refusal.code != "RATE_LIMITED":
                    raise
            time.sleep(1.1)
        return self._once(operation, fields)

    def _once(self, operation, fields):
        request_id = str(uuid.uuid4())
        self._link.send({"type": operation, "requestId": request_id, **fields})
        until = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < until:
            frame = self._link.read(until - time.monotonic())
            if frame is None:
                continue
            if frame.get("requestId") != request_id:
                self._on_frame(frame)
            elif "error" in frame:
                raise Refused(frame["error"])
            else:
                return frame
        raise Lost(f"no answer to {operation} in {ANSWER_SECONDS} s")

    def pump(self, seconds):
        """Hands one frame on, or none where none comes in time."""
        frame = self._link.read(seconds)
        if frame is not None:
            self._on_frame(frame)

    def close(self):
        self._link.close()


class UnixLink:
    """One JSON object a line."""

    def __init__(self, path=None):
        self._rest = b""
        if path is not None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.settimeout(ANSWER_SECONDS)
            self._socket.connect(path)

    def send(self, frame):
        self._write(json.dumps(frame).encode() + b"\n")

    def read(self, seconds):
        """The next frame; None where none comes in time, and nothing of it is lost then."""
        until = time.monotonic() + seconds
        while (frame := self._parse()) is None:
            self._socket.settimeout(max(0.001, until - time.monotonic()))
            try:
                data = self._socket.recv(65536)
            except (socket.timeout, ssl.SSLWantReadError):
                return None
            except OSError as failure:
                raise Lost(str(failure)) from failure
            if data == b"":
                raise Lost("the server ended the connection")
            self._rest += data
            if len(self._rest) > MAX_FRAME_BYTES:
                raise Lost("a frame is larger than this client takes")
        return frame

    def close(self):
        self._socket.close()

    def _write(self, data):
        self._socket.settimeout(ANSWER_SECONDS)
        try:
            self._socket.sendall(data)
        except OSError as failure:
            raise Lost(str(failure)) from failure

    def _parse(self):
        line, found, rest = self._rest.partition(b"\n")
        if not found:
            return None
        self._rest = rest
        return decoded(line)


class WebLink(UnixLink):
    """One JSON object a text message (RFC 6455)."""

    def __init__(self, url, token, ca_file=None):
        super().__init__()
        parts = urlsplit(url)
        secure = parts.scheme == "wss"
        port = parts.port or (443 if secure else 80)
        self._message = b""
        self._socket = socket.create_connection((parts.hostname, port), timeout=ANSWER_SECONDS)
        if secure:
            context = ssl.create_default_context(cafile=ca_file)
            self._socket = context.wrap_socket(self._socket, server_hostname=parts.hostname)
        key = base64.b64encode(os.urandom(16)).decode()
        self._write(
            f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self._socket.recv(1)
            if byte == b"" or len(head) > 16384:
                raise Lost("the server took no WebSocket")
            head += byte
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        if not head.startswith(b"HTTP/1.1 101") or base64.b64encode(digest) not in head:
            raise Lost(f"the server took no WebSocket: {head.splitlines()[0].decode(errors='replace')}")

    def send(self, frame):
        self._send(0x1, json.dumps(frame).encode())

    def _send(self, kind, data):
        mask = os.urandom(4)
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x80 | kind, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | kind, 0x80 | 127, size)
        self._write(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))

    def _parse(self):
        while (piece := self._piece()) is not None:
            is_last, kind, data = piece
            if kind == 0x8:
                raise Lost("the server closed the WebSocket")
            if kind == 0x9:
                self._send(0xA, data)
            if kind in (0x0, 0x1):
                self._message += data
                if is_last:
                    text, self._message = self._message, b""
                    return decoded(text)
        return None

    def _piece(self):
        """One whole piece of a message, or None while it is not all there."""
        if len(self._rest) < 2:
            return None
        first, size, at = self._rest[0], self._rest[1] & 0x7F, 2
        if size > 125:
            at = 4 if size == 126 else 10
            if len(self._rest) < at:
                return None
            size = int.from_bytes(self._rest[2:at], "big")
        if len(self._rest) < at + size:
            return None
        data, self._rest = self._rest[at : at + size], self._rest[at + size :]
        return first & 0x80 != 0, first & 0x0F, data


def decoded(data):
    try:
        return json.loads(data)
    except ValueError as failure:
        raise Lost("the server sent what is no frame") from failure
