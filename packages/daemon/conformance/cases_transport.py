"""Where it serves: TLS, beyond loopback, long directories, the ready line and the way down."""

import os
import socket
import ssl
import stat
import uuid

from cases import Failed, case, expect, expect_code, expect_fine, key

HERE = os.path.dirname(os.path.abspath(__file__))
CERTIFICATE = os.path.join(HERE, "localhost-cert.pem")
TLS = ["--tls-cert", CERTIFICATE, "--tls-key", os.path.join(HERE, "localhost-key.pem")]


def again(world, listen="127.0.0.1:0", flags=()):
    """The case's daemon once more, with other flags."""
    world.server.stop()
    usual = world.server.flags
    world.server.flags = [*usual, *flags]
    try:
        world.server.start(listen)
    finally:
        world.server.flags = usual


def refuses(world, listen, flags=()):
    """The daemon does not come up; what it said instead."""
    try:
        again(world, listen, flags)
    except Failed:
        world.server.ready = {}
    expect("ready" not in world.server.ready, f"nothing is served on {listen}", world.server.ready)
    expect(world.server.process.wait(20) != 0, "it ends with a failure")
    return world.server.ready


@case("T01", "with a certificate the WebSocket is TLS, and nothing else is answered there", own=True)
def encrypted(world):
    _, token = world.device("tls")
    again(world, flags=TLS)
    listen = world.server.ready["listen"]
    expect(listen.startswith("wss://"), "the ready line says wss", listen)
    trusting = ssl.create_default_context(cafile=CERTIFICATE)
    client, status = world.web({"Authorization": f"Bearer {token}"}, trusting)
    expect(client is not None, "the certificate is the one given", status)
    expect_fine(client.hello())
    expect_fine(client.call("agents.list"))
    host, port = listen.split("://")[1].rsplit(":", 1)
    plain = socket.create_connection((host, int(port)), timeout=15)
    head = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
    plain.sendall(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\n{head}\r\n\r\n".encode())
    expect(b" 101 " not in received(plain), "no plain WebSocket there")
    plain.close()
    expect_fine(world.local().call("agents.list"))
    world.server.stop()


@case("T02", "beyond loopback only with a certificate", own=True)
def beyond_loopback(world):
    for listen in ("0.0.0.0:0", "[::]:0"):
        refuses(world, listen)
    again(world, "0.0.0.0:0", TLS)
    _, token = world.device("far")
    port = world.server.ready["listen"].rsplit(":", 1)[1]
    trusting = ssl.create_default_context(cafile=CERTIFICATE)
    for name, taken in ((f"0.0.0.0:{port}", True), (f"evil.example:{port}", False)):
        client, status = world.web({"Authorization": f"Bearer {token}", "Host": name}, trusting)
        expect((client is not None) == taken, "the Host header is checked there too", name, status)
    world.server.stop()


@case("T03", "a certificate that is none, or half of one, is refused at the start", own=True)
def no_certificate(world):
    nothing = os.path.join(world.server.state_dir, "no-such.pem")
    refuses(world, "127.0.0.1:0", ["--tls-cert", nothing, "--tls-key", nothing])
    refuses(world, "127.0.0.1:0", TLS[:2])
    world.server.start()
    expect_fine(world.local().call("agents.list"))


@case("T04", "a directory too deep for a socket: a short private one, named by ostler.sock.path", own=True)
def deep_directory(world):
    world.server.stop()
    world.server.state_dir = os.path.join(world.server.state_dir, "d" * 60, "e" * 60)
    os.makedirs(world.server.state_dir, mode=0o700)
    note = os.path.join(world.server.state_dir, "ostler.sock.path")
    world.server.start()
    path = named_by(note)
    expect(world.server.ready["socket"] == path and len(path.encode()) < 104, "the note names it", path)
    expect(os.stat(path).st_mode & 0o777 == 0o600, "the socket is 0600", path)
    expect(os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700, "its directory is private", path)
    expect(not os.path.exists(os.path.join(world.server.state_dir, "ostler.sock")), "no other one")
    target = world.launch({"turns": [{"forMs": 10}]})
    client = world.local()
    name = key()
    expect_fine(client.call("turn.send", **target, idempotencyKey=name, text="deep down"))
    expect(world.settled(client, name, "settled")["state"] == "completed", "it works there")
    world.server.kill()
    world.server.start()
    later = named_by(note)
    expect_fine(world.local().call("status", **target))
    expect(later == path or not os.path.exists(os.path.dirname(path)), "nothing is left of the dead one's", path)
    expect_fine(world.local().call("agent.close", **target))
    world.server.stop()
    expect(not os.path.exists(later) and not os.path.exists(note), "nothing is left behind a stop", later)


@case("T05", "one ready line on stdout, once it serves: ready, socket, listen, serverInstanceId", own=True)
def ready_line(world):
    ready = world.server.ready
    expect(set(ready) >= {"ready", "socket", "listen", "serverInstanceId"}, "its fields", ready)
    expect(ready["ready"] is True and ready["listen"].startswith("ws://127.0.0.1:"), "what it says", ready)
    expect(ready["socket"] == os.path.join(world.server.state_dir, "ostler.sock"), "the directory's socket", ready)
    expect(stat.S_ISSOCK(os.stat(ready["socket"]).st_mode), "it is there")
    world.launch()
    expect(uuid.UUID(ready["serverInstanceId"]).version == 4, "an instance", ready)
    world.server.stop()
    said = world.server.process.stdout.read()
    expect(said == "", "and not a second line, up to the end", said)


@case("T06", "SIGTERM: what is being typed is finished, exit 0, agents live on, and nothing is typed twice", own=True)
def on_the_way_down(world):
    truth = os.path.join(world.server.state_dir, "truth.jsonl")
    target = world.launch_told(truth, {"turns": [{"forMs": 10}]})
    client = world.local()
    requests = [{**target, "idempotencyKey": key(), "text": f"on the way down {count}"} for count in range(4)]
    for request in requests:
        expect_fine(client.call("turn.send", **request))
    world.server.process.terminate()
    expect(world.server.process.wait(30) == 0, "it ends well", world.server.process.returncode)
    expect(client.until_ended(), "connections end")
    world.server.start()
    later = world.local()
    for request in requests:
        copy = later.call("turn.send", **request)
        expect(copy["status"] == "duplicate", "a duplicate", copy)
        receipt = copy["receipt"]
        code = (receipt["error"] or {}).get("code")
        expect(receipt["state"] != "queued", "its receipt says what is known", receipt)
        times = world.submitted(truth).count(request["text"])
        expect(times <= 1, "never twice", request["text"], times)
        expect(times == 0 or receipt["state"] != "rejected", "what was submitted is not rejected", receipt)
        expect(times == 1 or receipt["state"] in ("rejected", "unknown"), "what was not is not claimed", receipt, code)


@case("T07", "a second daemon on the same directory refuses to start; the first goes on")
def second_daemon(world):
    second = world.another_server()
    try:
        second.start()
        expect("ready" not in second.ready, "it does not serve", second.ready)
    except Failed:
        pass
    expect(second.process.wait(20) != 0, "it ends with a failure")
    expect_fine(world.local().call("agents.list"))


@case("T08", "a token makes a connection its device's, whatever carries it")
def one_device(world):
    target = world.launch({"turns": [{"forMs": 10}]})
    _, token = world.device("both")
    unix, (web, _) = world.raw(), world.web({"Authorization": f"Bearer {token}"})
    expect_fine(unix.hello(token=token))
    expect_fine(web.hello())
    request = {**target, "idempotencyKey": key(), "text": "from one of two"}
    first = unix.call("turn.send", **request)
    second = web.call("turn.send", **request)
    expect((first["status"], second["status"]) == ("accepted", "duplicate"), "one device", first, second)
    expect(world.local().call("receipt.get", idempotencyKey=request["idempotencyKey"])["receipt"] is None, "not local")
    expect_code(unix.call("agent.screen", **target), "UNSUPPORTED_CAPABILITY")
    web.wait(lambda frame: frame.get("kind") == "receipt.updated")


def named_by(note):
    with open(note, encoding="utf-8") as file:
        return file.read().strip()


def received(sock):
    """Everything until the peer ends or says nothing more."""
    data = b""
    try:
        while len(data) < 65536:
            more = sock.recv(4096)
            if more == b"":
                break
            data += more
    except OSError:
        pass
    return data
