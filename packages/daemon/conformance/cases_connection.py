"""Hello, frames, quotas, and who may connect."""

import json
import time
import uuid

from cases import case, expect, expect_code, expect_fine
from wire import code_of

MAX_FRAME_BYTES = 65536


@case("W01", "before hello everything is HELLO_REQUIRED, and the connection stays")
def hello_first(world):
    client = world.raw()
    expect_code(client.call("agents.list"), "HELLO_REQUIRED")
    expect_code(client.call("turn.send"), "HELLO_REQUIRED")
    expect_fine(client.hello())


@case("W02", "another protocol is PROTO_UNSUPPORTED")
def other_protocol(world):
    client = world.raw()
    expect_code(client.hello(proto=2), "PROTO_UNSUPPORTED")
    expect_code(client.hello(proto=0), "PROTO_UNSUPPORTED")
    expect_fine(client.hello())


@case("W03", "hello_result says who serves, and what is in force")
def hello_result(world):
    client = world.raw()
    answer = client.hello(capabilities=["input.status.v1", "turn.correlation.v2", "never.heard.v1"])
    expect(answer["type"] == "hello_result", "the type is hello_result", answer)
    expect(answer["proto"] == 1 and answer["resumed"] is False, "proto 1, nothing resumed", answer)
    expect(answer["serverInstanceId"] == world.server.ready["serverInstanceId"], "the instance of the ready line", answer)
    expect(isinstance(answer["machineId"], str) and isinstance(answer["cursor"], int), "machine and cursor", answer)
    expect(answer["capabilities"] == ["input.status.v1", "turn.correlation.v2"], "what it knows of what was asked", answer)


@case("W04", "a later hello replaces the choice of capabilities")
def hello_again(world):
    target = world.launch()
    client = world.local(capabilities=[])
    name = f"k-{uuid.uuid4().hex[:8]}"
    plain = client.call("turn.send", **target, idempotencyKey=name, text="hello")
    expect("input" not in plain["receipt"], "no input without input.status.v1", plain)
    expect_fine(client.hello(capabilities=["input.status.v1"]))
    seen = client.call("receipt.get", idempotencyKey=name)
    expect("input" in seen["receipt"], "input with input.status.v1", seen)
    expect_fine(client.hello(capabilities=[]))
    again = client.call("receipt.get", idempotencyKey=name)
    expect("input" not in again["receipt"], "none again", again)


@case("W05", "input.status.v1 is no operation, and nor is anything unknown")
def no_operation(world):
    client = world.local()
    for name in ("input.status.v1", "agents.listen", "__proto__", "hasOwnProperty", ""):
        expect_code(client.call(name), "UNSUPPORTED_CAPABILITY")


@case("W06", "what is no request is INVALID_REQUEST, and the connection stays")
def garbage(world):
    client = world.local()
    for text in ("not json", "[]", "7", "null", '"text"', "{}", '{"type":"agents.list"}',
                 '{"type":"agents.list","requestId":"7"}', "[" * 30000):
        client.send_text(text)
        answer = client.read()
        expect(answer["type"] == "error", "an error frame", answer)
        expect_code(answer, "INVALID_REQUEST")
    expect_fine(client.call("agents.list"))


@case("W07", "a frame of 65,536 bytes is read; one byte more ends the connection")
def frame_limit(world):
    client = world.local()
    head = json.dumps({"type": "agents.list", "requestId": str(uuid.uuid4())})
    client.send_text(head + " " * (MAX_FRAME_BYTES - len(head)))
    expect_fine(client.read())
    client.send_text(head + " " * (MAX_FRAME_BYTES - len(head) + 1))
    expect_code(client.wait(lambda frame: frame["type"] == "error"), "PAYLOAD_TOO_LARGE")
    expect(client.until_ended(), "the connection ends")


@case("W08", "frames come in any pieces: several in one write, one byte by byte")
def pieces(world):
    client = world.local()
    ids = [str(uuid.uuid4()) for _ in range(3)]
    text = "".join(json.dumps({"type": "focus.get", "requestId": each}) + "\n" for each in ids)
    client.send_bytes(text.encode())
    for each in ids:
        expect_fine(client.wait(lambda frame, each=each: frame.get("requestId") == each))
    last = str(uuid.uuid4())
    for byte in (json.dumps({"type": "focus.get", "requestId": last}) + "\n").encode():
        client.send_bytes(bytes([byte]))
    expect_fine(client.wait(lambda frame: frame.get("requestId") == last))


@case("W09", "bytes that are no UTF-8 end the connection")
def not_utf8(world):
    client = world.local()
    client.send_bytes(b'{"type":"\xff\xfe"}\n')
    expect_code(client.wait(lambda frame: frame["type"] == "error"), "INVALID_REQUEST")
    expect(client.until_ended(), "the connection ends")


@case("W10", "twenty requests at once, then RATE_LIMITED, then one a second", quotas=True)
def rate(world):
    client = world.local()
    codes = [code_of(client.call("focus.get")) for _ in range(21)]
    expect(codes[:20] == [None] * 20, "twenty pass", codes)
    expect(codes[20] == "RATE_LIMITED", "the next is RATE_LIMITED", codes)
    time.sleep(1.1)
    expect_fine(client.call("focus.get"))
    expect_code(client.call("focus.get"), "RATE_LIMITED")


@case("W11", "four requests in flight, then BACKPRESSURE", quotas=True)
def in_flight(world):
    target = world.launch({"turns": [{"until": "never"}]})
    client = world.local()
    expect_fine(client.call("turn.send", **target, idempotencyKey="flight", text="work"))
    for _ in range(4):
        client.send("receipt.wait", idempotencyKey="flight", until="settled", timeoutMs=3000)
    expect_code(client.call("focus.get"), "BACKPRESSURE")


@case("W12", "a WebSocket without a token is UNAUTHENTICATED and ends")
def no_token(world):
    client, _ = world.web()
    expect_code(client.hello(), "UNAUTHENTICATED")
    expect(client.until_ended(), "the connection ends")


@case("W13", "a WebSocket's token comes with the handshake or with hello")
def with_token(world):
    _, token = world.device("web")
    client, _ = world.web({"Authorization": f"Bearer {token}"})
    expect_fine(client.hello())
    other, _ = world.web()
    expect_fine(other.hello(token=token))
    expect_fine(other.call("agents.list"))


@case("W14", "Host and Origin are checked exactly")
def host_and_origin(world):
    _, token = world.device("web")
    bearer = {"Authorization": f"Bearer {token}"}
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        client, status = world.web({**bearer, **headers})
        expect(client is None and status == 403, "the handshake is refused", headers, status)


@case("W15", "a wrong token over the Unix socket is UNAUTHENTICATED too")
def wrong_token(world):
    client = world.raw()
    expect_code(client.hello(token="guessed"), "UNAUTHENTICATED")
    expect(client.until_ended(), "the connection ends")
