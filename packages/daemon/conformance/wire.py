"""Plain frames over a Unix socket or a WebSocket; Python's standard library only."""

import base64
import hashlib
import json
import os
import socket
import struct
import time
import uuid

PATIENCE_SECONDS = 15.0


class Ended(Exception):
    """The server ended the connection."""


class Seen:
    """What any case has been told, by its kind."""

    def __init__(self):
        self.requests, self.receipts, self.kinds, self.states, self.inputs = set(), set(), set(), set(), set()

    def note(self, frame):
        if frame.get("error"):
            self.requests.add(frame["error"]["code"])
        if frame["type"] == "event":
            self.kinds.add(frame["kind"])
        inner = frame.get("payload") or {}
        for receipt in (frame.get("receipt"), inner.get("receipt"), *(frame.get("receipts") or [])):
            if receipt:
                self.states.add(receipt["state"])
                self.receipts.add((receipt["error"] or {}).get("code"))
                status = receipt.get("input")
                if status:
                    self.inputs.add((status["mode"], status["phase"]))


SEEN = Seen()


class Client:
    """One connection; frames that answer nothing are kept in `frames`, in their order."""

    def __init__(self, sock):
        self._sock = sock
        self._rest = b""
        self.frames = []

    @classmethod
    def unix(cls, path):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(PATIENCE_SECONDS)
        sock.connect(path)
        return cls(sock)

    def send_bytes(self, data):
        self._sock.sendall(data)

    def send_text(self, text):
        self.send_bytes(text.encode("utf-8") + b"\n")

    def send(self, operation, **fields):
        request_id = str(uuid.uuid4())
        self.send_text(json.dumps({"type": operation, "requestId": request_id, **fields}))
        return request_id

    def call(self, operation, **fields):
        """Sends a request and waits for the frame that answers it."""
        request_id = self.send(operation, **fields)
        return self.wait(lambda frame: frame.get("requestId") == request_id)

    def hello(self, **fields):
        return self.call("hello", **{"proto": 1, "capabilities": ["input.status.v1"], **fields})

    def wait(self, wanted, seconds=PATIENCE_SECONDS):
        """The first frame, past ones included, that `wanted` takes."""
        for frame in self.frames:
            if wanted(frame):
                return frame
        until = time.monotonic() + seconds
        while True:
            frame = self.read(max(0.01, until - time.monotonic()))
            if wanted(frame):
                return frame

    def read(self, seconds=PATIENCE_SECONDS):
        self._sock.settimeout(seconds)
        while b"\n" not in self._rest:
            try:
                data = self._sock.recv(65536)
            except (ConnectionResetError, BrokenPipeError):
                data = b""
            if data == b"":
                raise Ended("the server ended the connection")
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        return self._seen(json.loads(line))

    def _seen(self, frame):
        self.frames.append(frame)
        SEEN.note(frame)
        return frame

    def until_ended(self, seconds=PATIENCE_SECONDS):
        until = time.monotonic() + seconds
        try:
            while time.monotonic() < until:
                self.read(max(0.01, until - time.monotonic()))
        except Ended:
            return True
        except socket.timeout:
            return False
        return False

    def close(self):
        self._sock.close()


class WebSocket(Client):
    """RFC 6455, as far as a client of short text messages needs it."""

    @classmethod
    def open(cls, address, headers=None, tls=None):
        """Returns (client or None, status of the handshake). `tls`: an ssl context for a wss address."""
        host, port = address.split("://", 1)[1].rsplit(":", 1)
        sock = socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE_SECONDS)
        if tls is not None:
            sock = tls.wrap_socket(sock, server_hostname="localhost")
        key = base64.b64encode(os.urandom(16)).decode()
        lines = {
            "Host": f"{host}:{port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Version": "13",
            **(headers or {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        sock.sendall(f"GET / HTTP/1.1\r\n{head}\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            data = sock.recv(4096)
            if data == b"":
                break
            answer += data
        status = int(answer.split(b" ", 2)[1]) if answer else 0
        if status != 101:
            sock.close()
            return None, status
        accept = base64.b64encode(
            hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        )
        if accept not in answer:
            raise Ended("the handshake was answered wrongly")
        client = cls(sock)
        client._rest = answer.split(b"\r\n\r\n", 1)[1]
        return client, status

    def send_text(self, text):
        data = text.encode("utf-8")
        mask = os.urandom(4)
        if len(data) < 126:
            head = struct.pack("!BB", 0x81, 0x80 | len(data))
        elif len(data) < 65536:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, len(data))
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, len(data))
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
        self.send_bytes(head + mask + masked)

    def read(self, seconds=PATIENCE_SECONDS):
        self._sock.settimeout(seconds)
        while True:
            first, second = self._take(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack("!H", self._take(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self._take(8))
            data = self._take(length)
            kind = first & 0x0F
            if kind == 0x8:
                raise Ended("the server closed the WebSocket")
            if kind == 0x1:
                return self._seen(json.loads(data))

    def _take(self, count):
        while len(self._rest) < count:
            try:
                data = self._sock.recv(65536)
            except (ConnectionResetError, BrokenPipeError):
                data = b""
            if data == b"":
                raise Ended("the server ended the connection")
            self._rest += data
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken


def code_of(frame):
    """The error's code, or None where the request was taken."""
    return (frame.get("error") or {}).get("code")
