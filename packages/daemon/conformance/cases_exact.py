"""Limits to the byte, fields to the type, and the checks' order for every mutation."""

import itertools
import json
import os
import threading
import uuid

from cases import case, expect, expect_code, expect_fine, key, told
from wire import code_of

LARGE = "a" * 16385


def mutations(target):
    """Each mutation as it is taken up to its dispatch."""
    return {
        "turn.send": {**target, "text": "hi"},
        "turn.stop": dict(target),
        "question.answer": {**target, "questionRequestId": "q", "answers": {"a": "b"}},
    }


def faults(operation):
    """One fault for each check before the duplicate lookup, in the contract's order."""
    guarded = [({"focusRevision": "one"}, "INVALID_REQUEST")] if operation != "turn.stop" else []
    sized = [({"text": LARGE}, "PAYLOAD_TOO_LARGE")] if operation == "turn.send" else []
    return [
        ({"surplus": 1}, "INVALID_REQUEST"),
        *guarded,
        ({"agentId": None}, "MISSING_TARGET"),
        ({"machineId": "another-machine"}, "MACHINE_MISMATCH"),
        *sized,
        ({"idempotencyKey": "not a key"}, "INVALID_REQUEST"),
    ]


@case("E01", "of any two faults of any mutation the earlier check answers")
def pairs(world):
    target = world.launch()
    client = world.local()
    for operation, fields in mutations(target).items():
        for (first, code), (second, _) in itertools.combinations(faults(operation), 2):
            request = {**fields, "idempotencyKey": key(), **second, **first}
            answer = client.call(operation, **request)
            expect(code_of(answer) == code, f"{operation}: {code} for {first} before {second}", answer)


@case("E02", "behind the shape: duplicate, focus guard, agent, question")
def behind_the_shape(world):
    plan = [{"when": {"on": "ready"}, "actions": [{"do": "open", "dialog": "question"}]}]
    client = world.local()
    target = world.launch_holding({"plan": plan})
    opened = client.wait(lambda frame: frame.get("kind") == "question.open" and frame["agentId"] == target["agentId"])
    asked = {"questionRequestId": opened["payload"]["requestId"], "answers": {"a": "b", "c": "d"}}
    stale = {**asked, "questionRequestId": "closed"}
    focused = client.call("focus.set", **target)["focusRevision"]
    gone = {**target, "agentId": "nobody"}
    for fields, revision, code in (
        ({**gone, **stale}, focused - 1, "FOCUS_CHANGED"),
        ({**target, **stale}, focused - 1, "FOCUS_CHANGED"),
        ({**gone, **stale}, None, "AGENT_NOT_FOUND"),
        ({**target, **stale}, focused, "QUESTION_STALE"),
    ):
        guard = {} if revision is None else {"focusRevision": revision}
        expect_code(client.call("question.answer", **fields, **guard, idempotencyKey=key()), code)
    request = {**target, **asked, "idempotencyKey": key(), "focusRevision": focused}
    expect(client.call("question.answer", **request)["status"] == "accepted", "taken")
    client.call("focus.set", machineId=target["machineId"], agentId=None)
    backwards = {**request, "answers": {"c": "d", "a": "b"}}
    expect(client.call("question.answer", **backwards)["status"] == "duplicate", "a duplicate before the guard")
    changed = {**request, "questionRequestId": "closed"}
    expect_code(client.call("question.answer", **changed), "IDEMPOTENCY_CONFLICT")


@case("E03", "idempotency keys: 1 to 64 of their characters, and nothing else")
def keys(world):
    target = world.launch()
    client = world.local()
    for wrong in ("", "k" * 65, "a.b", "a b", "ä", "abc\n", "\nabc", "a/b", 7, None, ["a"], {"a": 1}):
        expect_code(client.call("turn.send", **target, idempotencyKey=wrong, text="hi"), "INVALID_REQUEST")
        expect_code(client.call("receipt.get", idempotencyKey=wrong), "INVALID_REQUEST")
    for right in ("k", "A-z_09" + "-" * 58):
        expect(client.call("receipt.get", idempotencyKey=right)["receipt"] is None, "it is a key", right)
    expect_code(client.call("turn.send", **target, text="hi"), "INVALID_REQUEST")


@case("E04", "a text is counted in bytes, is not blank, and is never cut")
def texts(world):
    truth = os.path.join(world.server.state_dir, f"truth-{key()}.jsonl")
    target = world.launch_told(truth, {"turns": [{"forMs": 10}]})
    client = world.local()
    for text, code in (("é" * 8193, "PAYLOAD_TOO_LARGE"), ("😀" * 4097, "PAYLOAD_TOO_LARGE"),
                       ("\u3000\u00a0\n\t", "INVALID_REQUEST"), (None, "INVALID_REQUEST"), (["hi"], "INVALID_REQUEST")):
        expect_code(client.call("turn.send", **target, idempotencyKey=key(), text=text), code)
    whole = "é" * 8192
    name = key()
    expect_fine(client.call("turn.send", **target, idempotencyKey=name, text=whole))
    expect(world.settled(client, name, "settled")["state"] == "completed", "it goes")
    expect(world.submitted(truth) == [whole], "whole", [len(each) for each in world.submitted(truth)])


@case("E05", "fields of a wrong type are refused before anything is claimed")
def types(world):
    target = world.launch()
    client = world.local()
    name = key()
    base = {**target, "idempotencyKey": name, "text": "hi"}
    for wrong in (-1, 1.5, "1", None, [], {}, True):
        expect_code(client.call("turn.send", **base, focusRevision=wrong), "INVALID_REQUEST")
    for field in ("machineId", "agentId"):
        for wrong in ("", 7, [], {}, None):
            expect_code(client.call("turn.send", **{**base, field: wrong}), "MISSING_TARGET")
    for identity in ("deviceId", "device", "token"):
        expect_code(client.call("turn.send", **base, **{identity: "local"}), "INVALID_REQUEST")
    for wrong in (-1, 1.5, "10", None):
        expect_code(client.call("receipt.wait", idempotencyKey=name, until="settled", timeoutMs=wrong), "INVALID_REQUEST")
    expect(client.call("receipt.get", idempotencyKey=name)["receipt"] is None, "nothing was claimed")
    expect(client.call("turn.send", **base)["status"] == "accepted", "and the key is free")


@case("E06", "one key from many connections at once: one accepted, the rest duplicates, one submission")
def at_once(world):
    truth = os.path.join(world.server.state_dir, f"truth-{key()}.jsonl")
    target = world.launch_told(truth, {"turns": [{"forMs": 10}]})
    request = {**target, "idempotencyKey": key(), "text": "only once"}
    clients = [world.local() for _ in range(8)]
    answers = []
    threads = [threading.Thread(target=lambda each=each: answers.append(each.call("turn.send", **request)))
               for each in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = sorted(answer.get("status", "") for answer in answers)
    expect(statuses == ["accepted"] + ["duplicate"] * 7, "one of them", statuses)
    expect(len({answer["receipt"]["deliveryId"] for answer in answers}) == 1, "one delivery")
    world.settled(clients[0], request["idempotencyKey"], "settled")
    expect(world.submitted(truth) == ["only once"], "typed once", world.submitted(truth))


@case("E07", "the intent is the request without requestId and key, whatever the order of its fields")
def intent(world):
    target, other = world.launch(), world.launch()
    client = world.local()
    name = key()
    base = {**target, "idempotencyKey": name, "text": "the intent"}
    expect(client.call("turn.send", **base)["status"] == "accepted", "taken")
    backwards = dict(reversed(base.items()))
    expect(client.call("turn.send", **backwards)["status"] == "duplicate", "the order is nothing")
    request_id = str(uuid.uuid4())
    escaped = json.dumps({"requestId": request_id, "type": "turn.send", **base}).replace("the intent", "the \\u0069ntent")
    client.send_text(escaped)
    answer = client.wait(lambda frame: frame.get("requestId") == request_id)
    expect(answer.get("status") == "duplicate", "nor how JSON writes it", answer)
    revision = client.call("focus.set", **target)["focusRevision"]
    for change in ({"text": "the intent "}, {"agentId": other["agentId"]}, {"focusRevision": revision}):
        expect_code(client.call("turn.send", **{**base, **change}), "IDEMPOTENCY_CONFLICT")
    expect_code(client.call("turn.stop", **target, idempotencyKey=name), "IDEMPOTENCY_CONFLICT")
    answers = {"questionRequestId": "q", "answers": {"a": "b"}}
    expect_code(client.call("question.answer", **target, **answers, idempotencyKey=name), "IDEMPOTENCY_CONFLICT")


@case("E08", "a cursor that is none is INVALID_REQUEST; one ahead of the server is a resync; the newest resumes with nothing")
def cursors(world):
    client = world.raw()
    hello = client.hello()
    instance, cursor = hello["serverInstanceId"], hello["cursor"]
    for wrong in (-1, 1.5, "1", None, True, [cursor], 2 ** 60):
        answer = world.raw().hello(resume={"serverInstanceId": instance, "cursor": wrong})
        expect_code(answer, "INVALID_REQUEST")
    for wrong in ({"cursor": 1}, {"serverInstanceId": 7, "cursor": 1}, {"serverInstanceId": instance, "cursor": 1, "more": 1}):
        expect_code(world.raw().hello(resume=wrong), "INVALID_REQUEST")
    ahead = world.raw()
    expect(ahead.hello(resume={"serverInstanceId": instance, "cursor": cursor + 100000})["resumed"] is False, "not resumed")
    resync = ahead.wait(lambda frame: frame["type"] == "resync")
    expect(resync["reason"] in ("instance_changed", "cursor_too_old"), "a reason of the contract", resync)
    newest = world.raw()
    answer = newest.hello(resume={"serverInstanceId": instance, "cursor": cursor})
    expect(answer["resumed"] is True, "resumed", answer)
    newest.call("focus.get")
    told = [frame for frame in newest.frames if frame["type"] == "event" and frame["eventId"] <= cursor]
    expect(told == [], "nothing from before it", told)


@case("E09", "what agent.subscribe brings is its agent's, of the kinds asked for, and not sent again on resume")
def streams(world):
    target = world.launch({"turns": [{"forMs": 400, "answer": "Said."}]})
    other = world.launch({"turns": [{"forMs": 10, "answer": "Elsewhere."}]})
    client = world.raw()
    hello = client.hello()
    plain, tools = world.local(), world.local()
    expect_fine(client.call("agent.subscribe", **target, ttlSec=300, include=["final"]))
    expect_fine(tools.call("agent.subscribe", **target, include=["tool"]))
    for each in (target, other):
        name = key()
        plain.call("turn.send", **each, idempotencyKey=name, text="say")
        world.settled(plain, name, "settled")
    for each in (plain, tools, client):
        each.call("agents.list")
    brought = streamed(client)
    expect([each["stream"] for each in brought] == ["final"], "the end, and nothing else", brought)
    expect("Said." in json.dumps(brought) and brought[0]["agentId"] == target["agentId"], "its agent's", brought)
    expect(streamed(plain) + streamed(tools) == [], "nobody else's, no other kind", streamed(tools))
    late = world.raw()
    late.hello(resume={"serverInstanceId": hello["serverInstanceId"], "cursor": hello["cursor"]})
    late.call("agents.list")
    expect(streamed(late) == [], "not sent again", streamed(late))
    expect_fine(client.call("agent.unsubscribe", **target))
    seen = len(brought)
    name = key()
    plain.call("turn.send", **target, idempotencyKey=name, text="say no more")
    world.settled(plain, name, "settled")
    client.call("agents.list")
    expect(len(streamed(client)) == seen, "nothing behind unsubscribe", streamed(client)[seen:])


def streamed(client):
    """What a connection was brought beside answers and events."""
    return [frame for frame in client.frames if "requestId" not in frame and frame["type"] not in ("event", "resync")]


@case("E10", "recap: three turns unless asked, each form within its limit and cut on a character with …")
def recaps(world):
    target = world.launch({"turns": [{"forMs": 10, "answer": "😀é " * 1500}]})
    client = world.local()
    for count in range(4):
        name = key()
        client.call("turn.send", **target, idempotencyKey=name, text=f"number {count}")
        world.settled(client, name, "settled")
    turns = client.call("recap", **target)["turns"]
    expect(len(turns) == 3, "three", len(turns))
    expect(len(client.call("recap", **target, n=5)["turns"]) == 4, "all four")
    for turn in turns:
        for field, size in (("recap", len(turn["recap"])), ("text", len(turn["text"]))):
            expect(size <= (60 if field == "recap" else 250), f"{field} within its limit", size)
        full = turn["fullText"]
        expect(8180 <= len(full.encode()) <= 8192 and full.endswith("…"), "8,192 bytes, with …", len(full.encode()))
        expect("\ufffd" not in full and "\ud83d" not in full, "no half of a character")
        expect(turn["recap"].endswith("…") and turn["text"].endswith("…"), "the short ones too", turn["recap"])
    for count in (0, 6, -1, 1.5, "3", None):
        expect_code(client.call("recap", **target, n=count), "INVALID_REQUEST")


@case("E11", "a receipt's fields say of which request, agent, machine and instance it is, and since when")
def fields(world):
    import time

    target = world.launch({"turns": [{"until": "never"}]})
    client = world.local()
    began = time.time() * 1000
    name = key()
    for operation, more in (("turn.send", {"text": "hi"}), ("turn.stop", {})):
        name = key()
        receipt = client.call(operation, **target, idempotencyKey=name, **more)["receipt"]
        expect(receipt["operation"] == operation and receipt["idempotencyKey"] == name, "its request", receipt)
        expect({field: receipt[field] for field in target} == target, "its agent", receipt)
        expect(receipt["serverInstanceId"] == world.server.ready["serverInstanceId"], "its instance", receipt)
        expect(receipt["turnId"] is None and receipt["error"] is None, "nothing is claimed yet", receipt)
        expect(isinstance(receipt["at"], int) and began - 2000 < receipt["at"] < began + 60000, "its time in ms", receipt)
        if operation == "turn.send":
            expect(isinstance(world.settled(client, name, "started")["turnId"], str), "a turn once it started")
            world.until_busy(target)


@case("E12", "agents.list and status name the hold and count what waits")
def holds(world):
    plan = [{"when": {"on": "ready"}, "actions": [{"do": "open", "dialog": "permission"}]}]
    target = world.launch_holding({"plan": plan})
    client = world.local()
    for _ in range(3):
        client.call("turn.send", **target, idempotencyKey=key(), text="waits")
    told(client, lambda receipt: receipt["agentId"] == target["agentId"]
         and receipt.get("input", {}).get("hold") == "permission")
    status = client.call("status", **target)
    listed = next(each for each in client.call("agents.list")["agents"] if each["agentId"] == target["agentId"])
    for seen in (status, listed):
        expect(seen.get("hold") == "permission" and seen["queued"] == 3, "the hold and the number", seen)
    expect(status["openQuestion"] is None, "a permission is no question", status)


@case("E13", "receipt.wait: a settled receipt ends every wait; an unknown key has none of its own words")
def waits(world):
    target = world.launch({"turns": [{"forMs": 10}]})
    client = world.local()
    name = key()
    client.call("turn.send", **target, idempotencyKey=name, text="hi")
    world.settled(client, name, "settled")
    for until in ("accepted", "started", "settled"):
        waited = client.call("receipt.wait", idempotencyKey=name, until=until, timeoutMs=60000)
        expect(waited["waitEnded"] == "reached", "reached", waited)
    expect_code(client.call("receipt.wait", idempotencyKey=key(), until="settled", timeoutMs=0), "INVALID_REQUEST")
    before = client.call("receipt.get", idempotencyKey=name)["receipt"]
    expect(client.call("receipt.get", idempotencyKey=name)["receipt"] == before, "waiting changes nothing")
