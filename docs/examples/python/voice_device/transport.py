"""Opens a connection: the path of a Unix socket, `ws://host:port`, or `wss://host:port`."""

import socket
import ssl
from urllib.parse import urlsplit

from stream import Lines, Lost, Refused
from websocket import WebSocket

CONNECT_SECONDS = 10
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def connect(address, token=None, ca_file=None):
    if not address.startswith(("ws://", "wss://")):
        return Lines(_opened(address))
    url = urlsplit(address)
    port = url.port or (443 if url.scheme == "wss" else 80)
    if url.scheme == "ws" and url.hostname not in LOOPBACK:
        raise Refused("a token may not cross a network in the open: use wss://")
    try:
        sock = socket.create_connection((url.hostname, port), timeout=CONNECT_SECONDS)
        if url.scheme == "wss":
            sock = ssl.create_default_context(cafile=ca_file).wrap_socket(sock, server_hostname=url.hostname)
    except ssl.SSLCertVerificationError as failure:
        raise Refused(f"the server's certificate is not trusted: {failure.verify_message}") from failure
    except OSError as failure:
        raise Lost(f"{address} can't be reached: {failure}") from failure
    return WebSocket(sock, f"{url.hostname}:{port}" if ":" not in url.hostname else f"[{url.hostname}]:{port}", token)


def _opened(path):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(CONNECT_SECONDS)
    try:
        sock.connect(path)
    except OSError as failure:
        sock.close()
        raise Lost(f"{path} can't be reached: {failure}") from failure
    return sock
