"""Frames over a Unix socket (one a line) or a WebSocket (one a text message)."""

import base64
import hashlib
import json
import os
import pathlib
import socket
import ssl
import struct
import urllib.parse

MAX_REQUEST_BYTES = 64 * 1024
MAX_ANSWER_BYTES = 1024 * 1024
CONNECT_SECONDS = 10
WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, CLOSE, PING, PONG = 0x81, 0x88, 0x89, 0x8A


def connect_unix(state_dir):
    """The daemon of a state directory; a long path has its socket elsewhere."""
    path = pathlib.Path(state_dir, "ostler.sock")
    note = pathlib.Path(f"{path}.path")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(CONNECT_SECONDS)
    sock.connect(note.read_text().strip() if note.exists() else str(path))
    return Lines(sock)


def connect_web(url, token):
    """The token goes in a header, never in the address."""
    at = urllib.parse.urlsplit(url)
    secure = at.scheme == "wss"
    sock = socket.create_connection((at.hostname, at.port or (443 if secure else 80)), CONNECT_SECONDS)
    if secure:
        sock = ssl.create_default_context().wrap_socket(sock, server_hostname=at.hostname)
    nonce = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {at.path or '/'} HTTP/1.1",
        f"Host: {at.netloc}",
        f"Authorization: Bearer {token}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {nonce}",
    ]
    sock.sendall("\r\n".join([*lines, "", ""]).encode())
    messages = Messages(sock)
    status, *headers = messages.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
    fields = dict((name.lower(), value.strip()) for name, _, value in (h.partition(":") for h in headers))
    digest = hashlib.sha1((nonce + WEBSOCKET_GUID).encode()).digest()
    if status.split(" ")[1:2] == ["401"]:
        raise PermissionError("the token is not known here, or was revoked")
    if status.split(" ")[1:2] != ["101"]:
        raise ConnectionError(f"no WebSocket: {status}")
    if fields.get("sec-websocket-accept") != base64.b64encode(digest).decode():
        raise ConnectionError("no WebSocket: the server's answer is not to this request")
    return messages


class Lines:
    def __init__(self, sock):
        self.sock, self.rest = sock, b""

    def send(self, frame):
        body = json.dumps(frame).encode()
        if len(body) > MAX_REQUEST_BYTES:
            raise SystemExit(f"a request of more than {MAX_REQUEST_BYTES} bytes; it was not sent")
        self.sock.settimeout(CONNECT_SECONDS)
        self.sock.sendall(self.wrapped(body))

    def wrapped(self, body):
        return body + b"\n"

    def read(self, seconds):
        """Raises socket.timeout; what has come of a frame by then is kept."""
        self.sock.settimeout(max(0.01, seconds))
        return json.loads(self.until(b"\n"))

    def until(self, mark):
        while mark not in self.rest:
            self.more()
        whole, self.rest = self.rest.split(mark, 1)
        return whole

    def more(self):
        if len(self.rest) > MAX_ANSWER_BYTES:
            raise ConnectionError(f"a frame of more than {MAX_ANSWER_BYTES} bytes")
        chunk = self.sock.recv(65_536)
        if not chunk:
            raise ConnectionError("closed by the server")
        self.rest += chunk

    def close(self):
        self.sock.close()


class Messages(Lines):
    def wrapped(self, body, kind=TEXT):
        if len(body) < 126:
            head = struct.pack(">BB", kind, 0x80 | len(body))
        elif len(body) < 65_536:
            head = struct.pack(">BBH", kind, 0x80 | 126, len(body))
        else:
            head = struct.pack(">BBQ", kind, 0x80 | 127, len(body))
        mask = os.urandom(4)
        return head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(body))

    def read(self, seconds):
        self.sock.settimeout(max(0.01, seconds))
        while True:
            kind, body = self.message()
            if kind == TEXT:
                return json.loads(body)
            if kind == PING:
                self.sock.sendall(self.wrapped(body, PONG))
            elif kind == CLOSE:
                why = body[2:].decode("utf-8", "replace")
                raise ConnectionError(f"closed by the server: {why}")
            elif kind != PONG:
                raise ConnectionError("a message in parts, or no text")

    def message(self):
        while len(self.rest) < 2:
            self.more()
        size, start = self.rest[1], 2
        if size >= 126:
            start = 4 if size == 126 else 10
            while len(self.rest) < start:
                self.more()
            size = int.from_bytes(self.rest[2:start], "big")
        if size > MAX_ANSWER_BYTES:
            raise ConnectionError(f"a frame of more than {MAX_ANSWER_BYTES} bytes")
        while len(self.rest) < start + size:
            self.more()
        kind, body = self.rest[0], self.rest[start : start + size]
        self.rest = self.rest[start + size :]
        return kind, body
