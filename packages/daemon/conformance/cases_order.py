"""The order of checks of a mutation, and what each check refuses."""

from cases import case, expect, expect_code, expect_fine, key
from wire import code_of

LARGE = "a" * 16385


def send_faults(target):
    """One fault for each check, in the order of the checks: what it changes, and its code."""
    return [
        ({"surplus": 1}, "INVALID_REQUEST"),
        ({"focusRevision": "one"}, "INVALID_REQUEST"),
        ({"agentId": None}, "MISSING_TARGET"),
        ({"machineId": "another-machine"}, "MACHINE_MISMATCH"),
        ({"text": LARGE}, "PAYLOAD_TOO_LARGE"),
        ({"idempotencyKey": "not a key"}, "INVALID_REQUEST"),
    ]


@case("O01", "each check of turn.send refuses with its code")
def single_faults(world):
    target = world.launch()
    client = world.local()
    for change, code in send_faults(target):
        request = {**target, "idempotencyKey": key(), "text": "hi", **change}
        expect_code(client.call("turn.send", **request), code)
    for text in ("", "  \n ", 7):
        expect_code(client.call("turn.send", **target, idempotencyKey=key(), text=text), "INVALID_REQUEST")


@case("O02", "of two faults the earlier check answers")
def two_faults(world):
    target = world.launch()
    client = world.local()
    faults = send_faults(target)
    for (first, code), (second, _) in zip(faults, faults[1:]):
        request = {**target, "idempotencyKey": key(), "text": "hi", **second, **first}
        answer = client.call("turn.send", **request)
        expect(code_of(answer) == code, f"{code} for {first} before {second}", answer)


@case("O03", "a duplicate is answered though the focus moved and the agent left")
def duplicate_first(world):
    target = world.launch()
    client = world.local()
    focused = client.call("focus.set", **target)
    request = {**target, "idempotencyKey": key(), "text": "hi", "focusRevision": focused["focusRevision"]}
    expect(client.call("turn.send", **request)["status"] == "accepted", "it is taken")
    client.call("focus.set", machineId=target["machineId"], agentId=None)
    answer = client.call("turn.send", **request)
    expect(answer.get("status") == "duplicate", "a duplicate, whatever the focus", answer)
    expect_fine(client.call("agent.close", **target))
    answer = client.call("turn.send", **request)
    expect(answer.get("status") == "duplicate", "a duplicate, though the agent left", answer)
    expect_code(client.call("turn.send", **{**request, "text": "other"}), "IDEMPOTENCY_CONFLICT")


@case("O04", "FOCUS_UNAVAILABLE and FOCUS_CHANGED come before the agent is looked for")
def focus_guard(world):
    target = world.launch()
    client = world.local()
    client.call("focus.set", machineId=target["machineId"], agentId=None)
    gone = {"machineId": target["machineId"], "agentId": "nobody"}
    expect_code(client.call("turn.send", **gone, idempotencyKey=key(), text="hi", focusRevision=1), "FOCUS_UNAVAILABLE")
    focused = client.call("focus.set", **target)
    stale = focused["focusRevision"] - 1
    expect_code(client.call("turn.send", **gone, idempotencyKey=key(), text="hi", focusRevision=stale), "FOCUS_CHANGED")
    expect_code(client.call("turn.send", **gone, idempotencyKey=key(), text="hi"), "AGENT_NOT_FOUND")


@case("O05", "text and key at their limits")
def limits(world):
    target = world.launch()
    client = world.local()
    longest = "k" * 64
    expect_fine(client.call("turn.send", **target, idempotencyKey=longest, text="a" * 16384))
    expect_code(client.call("turn.send", **target, idempotencyKey="k" * 65, text="hi"), "INVALID_REQUEST")
    wide = "é" * 8193
    expect_code(client.call("turn.send", **target, idempotencyKey=key(), text=wide), "PAYLOAD_TOO_LARGE")


@case("O06", "answers is a map of strings with something in it, and the question has to be open")
def answers(world):
    target = world.launch()
    client = world.local()
    base = {**target, "idempotencyKey": key(), "questionRequestId": "q"}
    for wrong in ({}, [], "yes", {"a": 1}):
        expect_code(client.call("question.answer", **base, answers=wrong), "INVALID_REQUEST")
    expect_code(client.call("question.answer", **base, answers={"a": "b"}), "QUESTION_STALE")
    expect(client.call("receipt.get", idempotencyKey=base["idempotencyKey"])["receipt"] is None, "nothing was claimed")


@case("O07", "NO_AGENTS where none runs", own=True)
def no_agents(world):
    client = world.local()
    fields = {"machineId": world.machine, "agentId": "nobody"}
    expect_code(client.call("turn.send", **fields, idempotencyKey=key(), text="hi"), "NO_AGENTS")
    expect_code(client.call("status", **fields), "NO_AGENTS")


@case("O08", "every operation refuses a field it does not know")
def unknown_fields(world):
    target = world.launch()
    client = world.local()
    requests = {
        "agents.list": {},
        "status": target,
        "recap": target,
        "turn.stop": {**target, "idempotencyKey": key()},
        "receipt.get": {"idempotencyKey": key()},
        "receipt.wait": {"idempotencyKey": key(), "until": "accepted", "timeoutMs": 0},
        "receipts.list": {},
        "focus.get": {},
        "focus.set": target,
        "agent.subscribe": target,
        "agent.unsubscribe": target,
        "agent.sessions": {},
        "agent.close": target,
        "agent.resize": {**target, "cols": 80, "rows": 24},
        "agent.screen": target,
        "agent.attach": target,
        "server.status": {},
        "device.add": {"name": "x"},
        "device.list": {},
        "device.revoke": {"deviceId": "x"},
    }
    for operation, fields in requests.items():
        expect_code(client.call(operation, **fields, surplus=True), "INVALID_REQUEST")
    expect_fine(client.call("status", **target))
