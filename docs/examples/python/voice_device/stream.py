"""Bytes in and out of a socket, each with a deadline; over a Unix socket, one line a message."""

import socket
import ssl
import time

SEND_SECONDS = 10
MAX_MESSAGE_BYTES = 64 * 1024


class Lost(Exception):
    """The connection is over. What was sent may have arrived; what was not answered is not known."""


class Refused(Exception):
    """The server said no, in its own words: the same again will not help."""


class Stream:
    """Bytes in and out, each with a deadline. Half a message stays where it is until the rest comes."""

    def __init__(self, sock):
        self.socket = sock
        self.rest = b""
        self.heard = time.monotonic()

    def write(self, data):
        try:
            self.socket.settimeout(SEND_SECONDS)
            self.socket.sendall(data)
        except OSError as failure:
            raise Lost(f"it could not be sent: {failure}") from failure

    def more(self, until):
        """Reads once, until a moment; False when that moment has come."""
        left = until - time.monotonic()
        if left <= 0:
            return False
        try:
            self.socket.settimeout(left)
            data = self.socket.recv(65536)
        except (socket.timeout, ssl.SSLWantReadError):
            return False
        except OSError as failure:
            raise Lost(f"it could not be read: {failure}") from failure
        if data == b"":
            raise Lost("the server ended the connection")
        self.rest += data
        self.heard = time.monotonic()
        return True

    def close(self):
        self.socket.close()


class Lines(Stream):
    def send(self, text):
        self.write(text.encode() + b"\n")

    def receive(self, seconds):
        """The next message, or None where none came in that time."""
        until = time.monotonic() + seconds
        while b"\n" not in self.rest:
            if len(self.rest) > MAX_MESSAGE_BYTES:
                raise Lost("a message is larger than 64 KiB")
            if not self.more(until):
                return None
        line, self.rest = self.rest.split(b"\n", 1)
        return decoded(line)


def decoded(data):
    try:
        return data.decode()
    except UnicodeDecodeError as failure:
        raise Lost("the server sent what is no UTF-8") from failure
