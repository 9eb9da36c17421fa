"""Every operation's success, receipts and events."""

import time
import base64

from cases import case, expect, expect_code, expect_fine, key
from wire import code_of

RECEIPT_FIELDS = {"idempotencyKey", "deliveryId", "operation", "state", "machineId", "agentId", "serverInstanceId", "turnId", "error", "at"}


@case("P01", "agents.list and status say what runs")
def listing(world):
    target = world.launch()
    client = world.local()
    listed = client.call("agents.list")
    one = next(agent for agent in listed["agents"] if agent["agentId"] == target["agentId"])
    for field in ("machineId", "name", "engine", "version", "state", "queued"):
        expect(field in one, f"an agent has {field}", one)
    status = client.call("status", **target)
    expect(status["openQuestion"] is None and status["queued"] == 0, "no question, nothing queued", status)


@case("P02", "turn.send: accepted, then the receipt moves up to the end of the turn")
def sending(world):
    target = world.launch({"turns": [{"forMs": 20}]})
    client = world.local()
    name = key()
    sent = client.call("turn.send", **target, idempotencyKey=name, text="hello")
    expect(sent["status"] == "accepted", "accepted", sent)
    expect(RECEIPT_FIELDS <= set(sent["receipt"]), "the receipt's fields", sent)
    receipt = world.settled(client, name)
    expect(receipt["input"]["phase"] == "accepted" and receipt["input"]["mode"] == "direct", "accepted, direct", receipt)
    started = world.settled(client, name, "started")
    expect(started["turnId"] is not None, "a turn of ours", started)
    states = [frame["payload"]["receipt"]["state"] for frame in client.frames
              if frame.get("kind") == "receipt.updated" and frame["payload"]["receipt"]["idempotencyKey"] == name]
    ranks = ["queued", "delivered", "started", "completed"]
    expect(states == sorted(states, key=ranks.index), "it only moves up", states)


@case("P03", "the same request again is a duplicate with the stored receipt")
def duplicates(world):
    target = world.launch()
    client = world.local()
    request = {**target, "idempotencyKey": key(), "text": "once"}
    first = client.call("turn.send", **request)
    other = world.local()
    again = other.call("turn.send", **request)
    expect(again["status"] == "duplicate", "a duplicate", again)
    expect(again["receipt"]["deliveryId"] == first["receipt"]["deliveryId"], "the same delivery", first, again)
    expect_code(other.call("turn.send", **{**request, "text": "twice"}), "IDEMPOTENCY_CONFLICT")
    expect_code(other.call("turn.stop", **target, idempotencyKey=request["idempotencyKey"]), "IDEMPOTENCY_CONFLICT")


@case("P04", "turn.stop interrupts, and without a turn is rejected")
def stopping(world):
    target = world.launch({"turns": [{"until": "never"}]})
    client = world.local()
    name = key()
    client.call("turn.send", **target, idempotencyKey=name, text="work")
    world.settled(client, name, "started")
    world.until_busy(target)
    stop = key()
    expect(client.call("turn.stop", **target, idempotencyKey=stop)["status"] == "accepted", "taken")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        receipt = client.call("receipt.get", idempotencyKey=stop)["receipt"]
        if receipt["state"] != "queued":
            break
        time.sleep(0.02)
    expect(receipt["state"] in ("delivered", "completed"), "the stop was carried out", receipt)


@case("P05", "receipt.get of an unknown key is null; receipt.wait ends by its time")
def receipts(world):
    target = world.launch({"turns": [{"until": "never"}]})
    client = world.local()
    expect(client.call("receipt.get", idempotencyKey=key())["receipt"] is None, "null")
    name = key()
    client.call("turn.send", **target, idempotencyKey=name, text="work")
    began = time.monotonic()
    waited = client.call("receipt.wait", idempotencyKey=name, until="settled", timeoutMs=300)
    expect(waited["waitEnded"] == "timeout", "ended by time", waited)
    expect(0.25 < time.monotonic() - began < 5, "about that long")
    expect_code(client.call("receipt.wait", idempotencyKey=name, until="settled", timeoutMs=60001), "INVALID_REQUEST")
    listed = client.call("receipts.list", state="unresolved", agentId=target["agentId"])
    expect([each["idempotencyKey"] for each in listed["receipts"]] == [name], "it is listed", listed)


@case("P06", "focus.set, focus.get and focus.changed; the revision only rises")
def focus(world):
    target = world.launch()
    client = world.local()
    first = client.call("focus.set", **target)
    expect(first["focus"] == target, "the focus is the agent", first)
    same = client.call("focus.set", **target)
    expect(same["focusRevision"] == first["focusRevision"], "the same again changes nothing", same)
    none = client.call("focus.set", machineId=target["machineId"], agentId=None)
    expect(none["focus"] is None and none["focusRevision"] > first["focusRevision"], "taken away", none)
    expect(client.call("focus.get")["focusRevision"] == none["focusRevision"], "asked")
    client.wait(lambda frame: frame.get("kind") == "focus.changed")
    gone = {"machineId": target["machineId"], "agentId": "nobody"}
    expect_code(client.call("focus.set", **gone), "AGENT_NOT_FOUND")


@case("P07", "recap gives the newest turns within their limits")
def recap(world):
    target = world.launch({"turns": [{"forMs": 10, "answer": "All done. " * 100}]})
    client = world.local()
    name = key()
    client.call("turn.send", **target, idempotencyKey=name, text="hello")
    world.settled(client, name, "settled")
    answer = client.call("recap", **target, n=1)
    expect_fine(answer)
    for turn in answer["turns"]:
        expect(len(turn["recap"]) <= 60 and len(turn["text"]) <= 250, "short forms", turn)
        expect(len(turn["fullText"].encode()) <= 8192, "the long form", turn)
    for count in (0, 6, "3"):
        expect_code(client.call("recap", **target, n=count), "INVALID_REQUEST")


@case("P08", "agent.subscribe is limited in time and number, and can be given up")
def subscribing(world):
    target = world.launch()
    client = world.local()
    expect_fine(client.call("agent.subscribe", **target, ttlSec=1, include=["text"]))
    for wrong in ({"ttlSec": 0}, {"ttlSec": 301}, {"include": ["all"]}, {"include": []}):
        expect_code(client.call("agent.subscribe", **target, **wrong), "INVALID_REQUEST")
    expect_fine(client.call("agent.unsubscribe", **target))


@case("P09", "a connection follows at most 16 agents: SUBSCRIPTION_LIMIT")
def subscription_limit(world):
    client = world.local()
    agents = [world.launch() for _ in range(17)]
    answers = [client.call("agent.subscribe", **target) for target in agents]
    expect([code_of(each) for each in answers[:16]] == [None] * 16, "sixteen are taken")
    expect_code(answers[16], "SUBSCRIPTION_LIMIT")


@case("P10", "agent.screen, agent.resize and agent.close, for the machine's own user")
def screens(world):
    target = world.launch()
    client = world.local()
    expect_fine(client.call("agent.resize", **target, cols=72, rows=20))
    screen = client.call("agent.screen", **target)
    expect(screen["cols"] == 72 and len(screen["rows"]) == 20, "the new size", screen)
    expect(screen["reading"]["readable"] in (True, False), "a reading", screen)
    expect_code(client.call("agent.resize", **target, cols=1, rows=20), "INVALID_REQUEST")
    expect_fine(client.call("agent.close", **target))
    expect(code_of(client.call("status", **target)) in ("AGENT_NOT_FOUND", "NO_AGENTS"), "it is gone")


@case("P11", "agent.launch refuses what can't be started, and starts nothing")
def launching(world):
    client = world.local()
    base = {"name": key(), "cwd": "/", "cleanEnv": True}
    expect_code(client.call("agent.launch", **base, engine="nobody"), "INVALID_REQUEST")
    expect_code(client.call("agent.launch", **base, engine="generic", command="/no/such/program"), "INVALID_REQUEST")
    expect_code(client.call("agent.launch", **{**base, "cwd": "relative"}, engine="generic", command="/bin/sh"), "INVALID_REQUEST")
    expect(all(agent["name"] != base["name"] for agent in client.call("agents.list")["agents"]), "none of them runs")


@case("P12", "a terminal is seen and typed into through agent.attach")
def attaching(world):
    target = world.launch({"turns": [{"forMs": 10}]})
    client = world.local()
    view = client.call("agent.attach", **target, cols=90, rows=30)
    expect_fine(view)
    expect(base64.b64decode(view["paint"]) != b"", "the screen is painted", view)
    typed = client.call("agent.input", attachId=view["attachId"], data=base64.b64encode(b"x").decode())
    expect(typed["outcome"] in ("passed_on", "held"), "the key is taken", typed)
    client.wait(lambda frame: frame["type"] == "terminal" and frame["kind"] == "output")
    expect_fine(client.call("agent.size", attachId=view["attachId"], cols=80, rows=25))
    expect_fine(client.call("agent.detach", attachId=view["attachId"]))
    expect_code(client.call("agent.input", attachId=view["attachId"], data="eA=="), "INVALID_REQUEST")


@case("P13", "a person's draft is a hold with a name, and the input goes when it clears")
def holds(world):
    target = world.launch({"turns": [{"forMs": 10}]})
    client = world.local()
    view = client.call("agent.attach", **target)
    press = lambda data: client.call("agent.input", attachId=view["attachId"], data=base64.b64encode(data).decode())
    press(b"half a thought")
    name = key()
    client.call("turn.send", **target, idempotencyKey=name, text="from a program")
    held = client.wait(lambda frame: frame.get("kind") == "receipt.updated"
                       and frame["payload"]["receipt"].get("input", {}).get("hold") == "foreign_draft")
    expect(held["payload"]["receipt"]["input"]["phase"] == "waiting_for_writer", "it waits", held)
    press(b"\r")
    expect(world.settled(client, name)["input"]["phase"] == "accepted", "it went")


@case("P14", "the ninth waiting input is rejected as queue_full; what waits can expire or be kept", own=True)
def queue_full(world):
    target = world.launch()
    client = world.local()
    view = client.call("agent.attach", **target)
    client.call("agent.input", attachId=view["attachId"], data=base64.b64encode(b"a draft").decode())
    time.sleep(0.3)
    names = [key() for _ in range(10)]
    for name in names:
        client.call("turn.send", **target, idempotencyKey=name, text=f"number {name}")
    last = client.call("receipt.get", idempotencyKey=names[-1])["receipt"]
    expect(last["state"] == "rejected" and last["error"]["code"] == "queue_full", "queue_full", last)


@case("P15", "server.status and events carry instance and machine")
def server(world):
    client = world.local()
    status = client.call("server.status")
    for field in ("machineId", "serverInstanceId", "pid", "version", "agents", "connections", "metrics"):
        expect(field in status, f"it has {field}", status)
    world.launch()
    event = client.wait(lambda frame: frame["type"] == "event")
    for field in ("eventId", "serverInstanceId", "machineId", "kind", "payload"):
        expect(field in event, f"an event has {field}", event)


@case("P16", "receipt.resolve is a person's word on an input in doubt")
def resolving(world):
    target = world.launch()
    client = world.local()
    expect_fine(client.call("receipt.resolve", **target, deliveryId="nobody", outcome="unknown"))
    expect_code(client.call("receipt.resolve", **target, deliveryId="x", outcome="maybe"), "INVALID_REQUEST")


@case("P17", "question.open is told, answered by its id, closed, and an old id is QUESTION_STALE")
def questions(world):
    plan = [{"when": {"on": "ready"}, "actions": [{"do": "open", "dialog": "question"}]}]
    client = world.local()
    target = world.launch_holding({"turns": [{"forMs": 10}], "plan": plan})
    opened = client.wait(lambda frame: frame.get("kind") == "question.open" and frame["agentId"] == target["agentId"])
    asked = opened["payload"]["requestId"]
    status = client.call("status", **target)
    expect(status["openQuestion"]["requestId"] == asked, "status names it", status)
    expect(status.get("hold") == "question", "a hold by its name", status)
    waiting = key()
    client.call("turn.send", **target, idempotencyKey=waiting, text="meanwhile")
    held = client.call("receipt.get", idempotencyKey=waiting)["receipt"]
    expect(held["state"] == "queued", "it waits behind the question", held)
    prompt = opened["payload"]["questions"][0]
    request = {**target, "idempotencyKey": key(), "questionRequestId": asked,
               "answers": {prompt["text"]: prompt["options"][0]}}
    expect_fine(client.call("question.answer", **request))
    client.wait(lambda frame: frame.get("kind") == "question.close" and frame["payload"]["requestId"] == asked)
    expect(client.call("question.answer", **request)["status"] == "duplicate", "a duplicate answers nothing again")
    expect_code(client.call("question.answer", **{**request, "idempotencyKey": key()}), "QUESTION_STALE")
    expect(world.settled(client, waiting)["input"]["phase"] == "accepted", "what waited goes")


@case("P18", "a permission is a hold; no operation answers it")
def permissions(world):
    plan = [{"when": {"on": "ready"}, "actions": [{"do": "open", "dialog": "permission"}]}]
    target = world.launch_holding({"plan": plan})
    client = world.local()
    name = key()
    client.call("turn.send", **target, idempotencyKey=name, text="not into the dialog")
    receipt = client.wait(lambda frame: frame.get("kind") == "receipt.updated"
                          and frame["payload"]["receipt"].get("input", {}).get("hold") == "permission")
    expect(receipt["payload"]["receipt"]["input"]["phase"] == "waiting_for_user", "waiting_for_user", receipt)
    answer = {"idempotencyKey": key(), "questionRequestId": "permission", "answers": {"permission": "yes"}}
    expect_code(client.call("question.answer", **target, **answer), "QUESTION_STALE")

