"""What the machine does wrong: a full disk, a damaged store, peers that talk nonsense or don't read."""

import glob
import json
import os
import resource
import socket
import time
import uuid

from cases import NotHere, case, expect, expect_code, expect_fine, key
from wire import code_of


@case("F01", "a reservation that can't be written is INTERNAL: nothing is typed, and the key stays free", own=True)
def full_disk(world):
    if not hasattr(resource, "prlimit"):
        raise NotHere("no prlimit on this system")
    target = world.launch()
    client = world.local()
    request = {**target, "idempotencyKey": key(), "text": "not while the disk is full"}
    pid = world.server.process.pid
    usual = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, usual[1]))
    try:
        refused = client.call("turn.send", **request)
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)
    expect_code(refused, "INTERNAL")
    screen = client.call("agent.screen", **target)
    expect("while the disk" not in "".join(screen["rows"]), "nothing was typed", screen["rows"])
    expect(client.call("receipt.get", idempotencyKey=request["idempotencyKey"])["receipt"] is None, "nothing is kept")
    expect(client.call("turn.send", **request)["status"] == "accepted", "with room again it is taken as new")
    expect(world.settled(client, request["idempotencyKey"])["input"]["phase"] == "accepted", "and goes")


@case("F02", "a damaged store: the daemon refuses to start, and keeps the file", own=True)
def damaged_store(world):
    world.local()
    world.server.stop()
    stores = [path for path in glob.glob(os.path.join(world.server.state_dir, "*")) if is_store(path)]
    expect(stores != [], "there is a store to damage")
    damaged = b"SQLite format 3\0" + b"\xa5" * 8192
    for path in stores:
        with open(path, "wb") as file:
            file.write(damaged)
    world.server.start()
    expect("ready" not in world.server.ready, "it says no ready line", world.server.ready)
    expect_code(world.server.ready, "STORE_CORRUPT")
    expect(world.server.process.wait(20) != 0, "it ends with a failure")
    for path in stores:
        with open(path, "rb") as file:
            expect(file.read() == damaged, "the file is as it was", path)


@case("F03", "half a frame and away, or nonsense: others are served")
def nonsense(world):
    for data in (b'{"type":"hello"', b"\0" * 4096, b"GET / HTTP/1.1\r\n\r\n", b"\n\n\n"):
        client = world.raw()
        client.send_bytes(data)
        client.close()
    host, port = world.server.ready["listen"].replace("ws://", "").rsplit(":", 1)
    for data in (b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\xff" * 20000, b"GET "):
        sock = socket.create_connection((host, int(port)), timeout=15)
        sock.sendall(data)
        sock.close()
    expect_fine(world.local().call("agents.list"))


@case("F04", "a WebSocket's frames: in pieces, pinged, binary, without a mask, too large")
def web_frames(world):
    _, token = world.device("web")
    bearer = {"Authorization": f"Bearer {token}"}

    def opened():
        client, _ = world.web(bearer)
        expect_fine(client.hello())
        return client

    client = opened()
    request_id = str(uuid.uuid4())
    text = ('{"type":"focus.get","requestId":"%s"}' % request_id).encode()
    client.send_bytes(masked(0x01, text[:9]) + masked(0x89, b"beat") + masked(0x80, text[9:]))
    expect_fine(client.wait(lambda frame: frame.get("requestId") == request_id))
    for byte in masked(0x81, text):
        client.send_bytes(bytes([byte]))
    expect_fine(client.read())
    client.send_text(text.decode() + " " * (65536 - len(text)))
    expect_fine(client.read())
    for data in (masked(0x82, text), bytes([0x81, len(text)]) + text, masked(0x81, b"\xff\xfe"),
                 masked(0x81, text + b" " * (65537 - len(text)))):
        client = opened()
        client.send_bytes(data)
        expect(client.until_ended(), "the connection ends", len(data))
    expect_fine(world.local().call("agents.list"))


@case("F05", "who doesn't read holds nobody up", own=True)
def slow_consumer(world):
    target = world.launch()
    slow = world.local()
    client = world.local()
    text = '{"type":"agents.list","requestId":"%s"}\n' % uuid.uuid4()
    slow._sock.settimeout(0.2)
    sent = 0
    try:
        while sent < 64 * 1024 * 1024:
            slow.send_bytes(text.encode() * 500)
            sent += len(text) * 500
    except (socket.timeout, BrokenPipeError, ConnectionResetError):
        pass
    began = time.monotonic()
    for _ in range(20):
        client.call("focus.set", **target)
        expect_fine(client.call("focus.set", machineId=target["machineId"], agentId=None))
    expect(time.monotonic() - began < 10, "others are answered", time.monotonic() - began)


@case("F06", "a hello that is no hello; a token that was taken away")
def bad_hello(world):
    client = world.raw()
    for wrong in ({"surplus": 1}, {"capabilities": "input.status.v1"}, {"capabilities": [7]}, {"resume": 7},
                  {"resume": {"serverInstanceId": "x"}}, {"resume": {"serverInstanceId": "x", "cursor": -1}}):
        expect_code(client.hello(**wrong), "INVALID_REQUEST")
    expect_fine(client.hello())
    device, token = world.device("gone")
    expect_fine(world.local().call("device.revoke", deviceId=device))
    web, _ = world.web({"Authorization": f"Bearer {token}"})
    expect_code(web.hello(), "REVOKED")
    expect(web.until_ended(), "its connection ends")
    guess, _ = world.web({"Authorization": "Bearer guessed"})
    if guess is not None:
        expect_code(guess.hello(), "UNAUTHENTICATED")
        expect(guess.until_ended(), "and so does a guess's")


@case("F07", "requestId is a UUIDv4")
def request_ids(world):
    client = world.local()
    for wrong in (str(uuid.uuid1()), uuid.uuid4().hex, "", None, 7, str(uuid.uuid4()) + " "):
        expect_code(asked(client, wrong), "INVALID_REQUEST")
    expect_fine(client.call("focus.get"))


@case("F08", "each connection has a rate of its own", quotas=True)
def own_rate(world):
    client = world.local()
    codes = [code_of(client.call("focus.get")) for _ in range(25)]
    expect("RATE_LIMITED" in codes, "it is limited", codes)
    expect_fine(world.local().call("focus.get"))


@case("F10", "the first hello is free; a connection that goes on saying it is slowed down", quotas=True)
def counted_hello(world):
    client = world.raw()
    codes = [code_of(client.hello()) for _ in range(22)]
    expect(codes[:21] == [None] * 21, "the first and twenty more", codes)
    expect(codes[21] == "RATE_LIMITED", "then RATE_LIMITED", codes)


@case("F09", "the socket is for its own user only")
def socket_mode(world):
    expect(os.stat(world.server.ready["socket"]).st_mode & 0o777 == 0o600, "mode 0600")


def asked(client, request_id):
    client.send_text(json.dumps({"type": "focus.get", "requestId": request_id}))
    return client.read()


def is_store(path):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(15) == b"SQLite format 3"


def masked(first, data):
    mask = os.urandom(4)
    if len(data) < 126:
        head = bytes([first, 0x80 | len(data)])
    elif len(data) < 65536:
        head = bytes([first, 0x80 | 126]) + len(data).to_bytes(2, "big")
    else:
        head = bytes([first, 0x80 | 127]) + len(data).to_bytes(8, "big")
    return head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
