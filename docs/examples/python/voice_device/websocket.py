"""One text message a message (RFC 6455): the handshake, masks, pings, pieces, and the limits of each."""

import base64
import hashlib
import os
import struct
import time

from stream import MAX_MESSAGE_BYTES, Lost, Refused, Stream, decoded

HANDSHAKE_SECONDS = 10
# The daemon pings a silent WebSocket every 30 seconds; one that says nothing for longer is gone.
SILENCE_SECONDS = 75
MAX_HEAD_BYTES = 16 * 1024
MAX_CONTROL_BYTES = 125
ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUED, TEXT, CLOSE, PING, PONG = 0x0, 0x1, 0x8, 0x9, 0xA


class WebSocket(Stream):
    def __init__(self, sock, host, token):
        super().__init__(sock)
        self.parts = None
        self._shake_hands(host, token)

    def _shake_hands(self, host, token):
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        head += f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        if token is not None:
            head += f"Authorization: Bearer {token}\r\n"
        self.write(f"{head}\r\n".encode())
        until = time.monotonic() + HANDSHAKE_SECONDS
        while b"\r\n\r\n" not in self.rest:
            if len(self.rest) > MAX_HEAD_BYTES or not self.more(until):
                raise Lost("the handshake was not answered")
        answer, self.rest = self.rest.split(b"\r\n\r\n", 1)
        first, *fields = answer.decode("latin-1").split("\r\n")
        status = (first.split(" ") + ["", ""])[1]
        if status == "429" or status.startswith("5"):
            raise Lost(f"the handshake was put off: {first}")
        headers = {name.strip().lower(): value.strip() for name, _, value in (each.partition(":") for each in fields)}
        accept = base64.b64encode(hashlib.sha1((key + ACCEPT_GUID).encode()).digest()).decode()
        if status != "101" or headers.get("sec-websocket-accept") != accept:
            raise Refused(f"the handshake was refused: {first}")
        if "sec-websocket-extensions" in headers:
            raise Refused("the server uses an extension nobody asked for")

    def send(self, text):
        self._send_frame(TEXT, text.encode())

    def _send_frame(self, kind, data):
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x80 | kind, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | kind, 0x80 | 127, size)
        mask = os.urandom(4)
        self.write(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))

    def receive(self, seconds):
        until = time.monotonic() + seconds
        while True:
            frame = self._frame()
            if frame is not None:
                message = self._taken(*frame)
                if message is not None:
                    return message
            elif not self.more(until):
                if time.monotonic() - self.heard > SILENCE_SECONDS:
                    raise Lost("the server has gone silent")
                return None

    def _frame(self):
        """The next whole frame of what was read, or None."""
        if len(self.rest) < 2:
            return None
        first, second = self.rest[0], self.rest[1]
        size, start = second & 0x7F, 2
        if size > 125:
            start = 4 if size == 126 else 10
            if len(self.rest) < start:
                return None
            size = int.from_bytes(self.rest[2:start], "big")
        kind, final = first & 0x0F, first & 0x80
        if first & 0x70 or second & 0x80 or kind not in (CONTINUED, TEXT, CLOSE, PING, PONG):
            raise Lost("the server sent a frame that no server may send")
        if kind >= CLOSE and (size > MAX_CONTROL_BYTES or not final):
            raise Lost("the server sent a control frame that is too large, or in pieces")
        if size + len(self.parts or b"") > MAX_MESSAGE_BYTES:
            raise Lost("a message is larger than 64 KiB")
        if len(self.rest) < start + size:
            return None
        data, self.rest = self.rest[start : start + size], self.rest[start + size :]
        return kind, final, data

    def _taken(self, kind, final, data):
        """A message that is complete with this frame, or None."""
        if kind == PING:
            self._send_frame(PONG, data)
        elif kind == CLOSE:
            self._send_frame(CLOSE, data[:2])
            code = int.from_bytes(data[:2], "big") if len(data) >= 2 else "without a code"
            raise Lost(f"the server closed the connection ({code}) {data[2:].decode(errors='replace')}")
        elif kind in (TEXT, CONTINUED):
            if (kind == TEXT) != (self.parts is None):
                raise Lost("the server mixed up the pieces of a message")
            self.parts = (self.parts or b"") + data
            if final:
                whole, self.parts = self.parts, None
                return decoded(whole)
        return None
