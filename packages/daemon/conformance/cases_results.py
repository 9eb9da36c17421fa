"""Results and their members, and the errors a receipt can end with."""

import base64

from cases import case, expect, expect_code, expect_fine, key

BOTH = ["input.status.v1", "turn.correlation.v2"]
PAYLOAD_FIELDS = {"serverInstanceId", "resultId", "correlation", "outcome", "fullText"}


def send(client, target, text, **fields):
    name = key()
    expect(client.call("turn.send", **target, idempotencyKey=name, text=text, **fields)["status"] == "accepted", "taken")
    return name


def result_of(client, name):
    """The one result that names a key."""
    event = client.wait(lambda frame: name in members(frame))
    payload = event["payload"]
    expect(set(payload) == PAYLOAD_FIELDS, "the payload is strict", payload)
    expect(payload["fullText"] != "", "it has a text", payload)
    return payload


def members(frame):
    if frame.get("kind") != "turn.result":
        return []
    return [each["idempotencyKey"] for each in frame["payload"]["correlation"]["inputs"]]


def ended(world, client, name):
    """The receipt's last word: it is asked for until it is settled or in doubt."""
    world.settled(client, name, "started")
    told = client.wait(lambda frame: frame.get("kind") == "receipt.updated"
                       and frame["payload"]["receipt"]["idempotencyKey"] == name
                       and frame["payload"]["receipt"]["state"] in ("completed", "unknown", "rejected"))
    return told["payload"]["receipt"]


@case("R01", "one input, one result: scope input, the whole answer, its receipt completed before")
def single(world):
    target = world.launch({"turns": [{"forMs": 10, "answer": "The answer.\nWhole."}]})
    client = world.local(capabilities=BOTH)
    name = send(client, target, "a question")
    payload = result_of(client, name)
    receipt = client.call("receipt.get", idempotencyKey=name)["receipt"]
    expect(receipt["state"] == "completed", "completed with its result", receipt)
    expect(payload["outcome"] == "completed" and payload["fullText"] == "The answer.\nWhole.", "the answer", payload)
    inputs = [{"deliveryId": receipt["deliveryId"], "idempotencyKey": name}]
    expect(payload["correlation"]["scope"] == "input", "scope input", payload)
    expect(payload["correlation"]["inputs"] == inputs, "its only member", payload, receipt)
    expect(payload["serverInstanceId"] == receipt["serverInstanceId"], "the receipts' instance", payload)


@case("R02", "two inputs in one turn: one result, scope group, never a second one")
def group(world):
    target = world.launch({"turns": [{"forMs": 1500, "answer": "Both."}], "boundaryMs": 50})
    client = world.local(capabilities=BOTH)
    first = send(client, target, "first of two")
    world.settled(client, first, "started")
    second = send(client, target, "second of two")
    payload = result_of(client, first)
    expect(payload["correlation"]["scope"] == "group", "scope group", payload)
    expect({each["idempotencyKey"] for each in payload["correlation"]["inputs"]} == {first, second}, "both", payload)
    client.call("agents.list")
    results = [frame for frame in client.frames if {first, second} & set(members(frame))]
    expect(len(results) == 1, "one result", results)


@case("R03", "no result without turn.correlation.v2, none for another device, the same again behind a resync")
def whose(world):
    target = world.launch({"turns": [{"forMs": 10, "answer": "For one."}]})
    _, token = world.device("one")
    _, other_token = world.device("two")
    one, plain, two = world.raw(), world.raw(), world.raw()
    for client, its, capabilities in ((one, token, BOTH), (plain, token, BOTH[:1]), (two, other_token, BOTH)):
        expect_fine(client.hello(token=its, capabilities=capabilities))
    payload = result_of(one, send(one, target, "a question"))
    plain.wait(lambda frame: frame.get("kind") == "turn.done")
    for client in (plain, two):
        client.call("agents.list")
        expect(not any(frame.get("kind") == "turn.result" for frame in client.frames), "no result", client.frames[-3:])
    for its, wanted in ((token, [payload]), (other_token, [])):
        late = world.raw()
        late.hello(token=its, capabilities=BOTH, resume={"serverInstanceId": "another", "cursor": 1})
        late.call("agents.list")
        seen = [frame["payload"] for frame in late.frames if frame.get("kind") == "turn.result"]
        expect(seen == wanted, "exactly its own", seen)


@case("R04", "inputs of two devices in one turn: no result for either")
def mixed_owners(world):
    target = world.launch({"turns": [{"forMs": 1500, "answer": "Whose?"}], "boundaryMs": 50})
    clients = []
    for name in ("one", "two"):
        _, token = world.device(name)
        client = world.raw()
        expect_fine(client.hello(token=token, capabilities=BOTH))
        clients.append(client)
    one, two = clients
    first = send(one, target, "from one")
    world.settled(one, first, "started")
    second = send(two, target, "from two")
    for client, name in ((one, first), (two, second)):
        ended(world, client, name)
        client.wait(lambda frame: frame.get("kind") == "turn.done")
        client.call("agents.list")
        expect(not any(frame.get("kind") == "turn.result" for frame in client.frames), "withheld whole")


@case("R05", "a failed turn completes nothing: RESULT_NOT_COMPLETED")
def failed_turn(world):
    target = world.launch({"turns": [{"forMs": 10, "answer": "It broke.", "outcome": "failed"}]})
    client = world.local(capabilities=BOTH)
    name = send(client, target, "a question")
    receipt = ended(world, client, name)
    expect(receipt["state"] == "unknown" and receipt["error"]["code"] == "RESULT_NOT_COMPLETED", "not completed", receipt)
    client.call("agents.list")
    outcomes = [frame["payload"]["outcome"] for frame in client.frames if name in members(frame)]
    expect(set(outcomes) <= {"failed"}, "no result calls it completed", outcomes)


@case("R06", "a turn that was stopped: TURN_INTERRUPTED, never completed")
def interrupted(world):
    target = world.launch({"turns": [{"until": "never", "answer": "Never."}]})
    client = world.local(capabilities=BOTH)
    name = send(client, target, "a question")
    world.settled(client, name, "started")
    world.until_busy(target)
    expect_fine(client.call("turn.stop", **target, idempotencyKey=key()))
    receipt = ended(world, client, name)
    expect(receipt["state"] == "unknown" and receipt["error"]["code"] == "TURN_INTERRUPTED", "interrupted", receipt)


@case("R07", "an answer past 32 KiB is withheld, never cut: RESULT_EVIDENCE_MISSING")
def too_large(world):
    target = world.launch({"turns": [{"forMs": 10, "answer": "large " * 6000}]})
    client = world.local(capabilities=BOTH)
    name = send(client, target, "a question")
    receipt = ended(world, client, name)
    expect(receipt["error"]["code"] == "RESULT_EVIDENCE_MISSING", "RESULT_EVIDENCE_MISSING", receipt)
    client.call("agents.list")
    expect(not any(name in members(frame) for frame in client.frames), "no result")


@case("R08", "an agent that ends: what waited is rejected as agent_gone", own=True)
def waiting_gone(world):
    target = world.launch()
    client = world.local()
    view = client.call("agent.attach", **target)
    client.call("agent.input", attachId=view["attachId"], data=base64.b64encode(b"a draft").decode())
    name = send(client, target, "waits")
    client.wait(lambda frame: frame.get("kind") == "receipt.updated"
                and frame["payload"]["receipt"].get("input", {}).get("hold") == "foreign_draft")
    expect_fine(client.call("agent.close", **target))
    receipt = client.call("receipt.get", idempotencyKey=name)["receipt"]
    expect(receipt["state"] == "rejected" and receipt["error"]["code"] in ("agent_gone", "AGENT_GONE"), "gone", receipt)


@case("R09", "a result behind a restart: the envelope's instance is new, the payload is the same", own=True)
def behind_restart(world):
    target = world.launch({"turns": [{"forMs": 10, "answer": "Kept."}]})
    client = world.local(capabilities=BOTH)
    before = client.hello(capabilities=BOTH)
    payload = result_of(client, send(client, target, "a question"))
    world.server.kill()
    world.server.start()
    late = world.raw()
    late.hello(capabilities=BOTH, resume={"serverInstanceId": before["serverInstanceId"], "cursor": before["cursor"]})
    again = late.wait(lambda frame: frame.get("kind") == "turn.result")
    expect(again["payload"] == payload, "the same payload", again, payload)
    expect(again["serverInstanceId"] == world.server.ready["serverInstanceId"], "the new envelope", again)


@case("R10", "receipt.wait from another connection is woken; a receipt has no input without input.status.v1")
def woken(world):
    target = world.launch({"turns": [{"forMs": 600}]})
    client, other = world.local(), world.raw()
    expect_fine(other.hello(capabilities=[]))
    name = send(client, target, "a question")
    waited = other.call("receipt.wait", idempotencyKey=name, until="settled", timeoutMs=15000)
    expect(waited["waitEnded"] == "reached" and waited["receipt"]["state"] == "completed", "woken", waited)
    told = [frame for frame in other.frames if frame.get("kind") == "receipt.updated"]
    expect(told != [] and all("input" not in frame["payload"]["receipt"] for frame in told), "no input", told[:1])
    for until in ("delivered", 7, None):
        expect_code(client.call("receipt.wait", idempotencyKey=name, until=until, timeoutMs=1), "INVALID_REQUEST")


@case("R11", "reads look at target, machine and agent in this order")
def read_targets(world):
    target = world.launch()
    client = world.local()
    for operation in ("status", "recap", "agent.subscribe", "agent.screen"):
        expect_code(client.call(operation, machineId=target["machineId"]), "MISSING_TARGET")
        expect_code(client.call(operation, machineId="other", agentId="nobody"), "MACHINE_MISMATCH")
        expect_code(client.call(operation, machineId=target["machineId"], agentId="nobody"), "AGENT_NOT_FOUND")


@case("R12", "of two faults the earlier check answers, before and behind the fields")
def more_pairs(world):
    target = world.launch()
    client = world.local()
    base = {**target, "idempotencyKey": key(), "text": "hi"}
    client.send_text('{"type":"no.operation","requestId":"7"}')
    expect_code(client.read(), "INVALID_REQUEST")
    expect_code(client.call("no.operation", surplus=1), "UNSUPPORTED_CAPABILITY")
    expect_code(client.call("turn.send", **{**base, "surplus": 1, "focusRevision": "x", "text": "a" * 16385}), "INVALID_REQUEST")
    expect_code(client.call("turn.send", **{**base, "agentId": None, "machineId": "other"}), "MISSING_TARGET")
    expect_code(client.call("turn.send", **{**base, "machineId": "other", "agentId": "nobody"}), "MACHINE_MISMATCH")
    expect_code(client.call("question.answer", machineId=target["machineId"], agentId="nobody", idempotencyKey=key(),
                            questionRequestId="q", answers={"a": "b"}), "AGENT_NOT_FOUND")
    client.call("focus.set", machineId=target["machineId"], agentId=None)
    expect_code(client.call("turn.send", **base, focusRevision=1), "FOCUS_UNAVAILABLE")
    expect(client.call("turn.send", **base)["status"] == "accepted", "no refusal kept the key")
    expect_code(client.call("turn.send", **{**base, "text": "other"}, focusRevision=1), "IDEMPOTENCY_CONFLICT")
