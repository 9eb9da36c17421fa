"""The codes a receipt can carry: each is provoked, and says no more than what is known."""

import resource
import time

from cases import NotHere, case, expect, expect_code, expect_fine, key, told

FINAL = ("completed", "rejected")


def send(client, target, text="a request"):
    name = key()
    sent = client.call("turn.send", **target, idempotencyKey=name, text=text)
    expect(sent.get("status") == "accepted", "taken", sent)
    return name


def with_code(client, name, code, seconds=30):
    """The first receipt of a key that carries the code."""
    return told(client, lambda receipt: receipt["idempotencyKey"] == name
                and (receipt["error"] or {}).get("code") == code, seconds)


def expect_state(receipt, state, phase=None):
    expect(receipt["state"] == state, f"it is {state}", receipt)
    if phase is not None:
        expect(receipt["input"]["phase"] == phase, f"its phase is {phase}", receipt)


@case("C01", "queued text the engine gives back: NOT_CONFIRMED, unknown with accepted, and evidence still raises it")
def given_back(world):
    target = world.launch({"busyRule": "native_queue", "turns": [{"text": "first", "until": "never"}, {"forMs": 10}]})
    client = world.local()
    first = send(client, target, "the first")
    world.settled(client, first, "started")
    world.until_busy(target)
    second = send(client, target, "the second")
    taken = world.settled(client, second)
    expect(taken["input"]["mode"] == "native_queue", "the engine's own queue", taken)
    press = world.keys(client, target)
    press(b"\x1b[A")
    receipt = with_code(client, second, "NOT_CONFIRMED")
    expect_state(receipt, "unknown", "accepted")
    press(b"\r")
    press(b"\x1b")
    raised = told(client, lambda each: each["idempotencyKey"] == second and each["state"] == "started")
    expect(raised["error"] is None and raised["input"]["mode"] == "native_queue", "raised; the mode stays", raised)


@case("C02", "several inputs between a start and an end that ties none: OVERLAPPING_INPUTS for all, and it clears")
def overlapping(world):
    script = {"turns": [{"text": "first", "forMs": 1200, "answer": "Whose?"}, {"forMs": 10}], "boundaryMs": 50}
    target = world.launch(script, engine="simulated_by_order")
    client = world.local(capabilities=["input.status.v1", "turn.correlation.v2"])
    first = send(client, target, "the first")
    world.settled(client, first, "started")
    second = send(client, target, "the second")
    for name in (first, second):
        expect_state(with_code(client, name, "OVERLAPPING_INPUTS"), "unknown")
    alone = send(client, target, "alone")
    expect_state(world.settled(client, alone, "settled"), "completed")
    client.call("agents.list")
    expect(not any(frame.get("kind") == "turn.result" for frame in client.frames), "no result without a tie")


@case("C03", "the agent dies behind the paste: runtime_gone_post_paste, and nothing is claimed", own=True)
def dies_behind_paste(world):
    target = world.launch({"plan": [{"when": {"on": "paste"}, "actions": [{"do": "crash"}]}]})
    client = world.local()
    receipt = with_code(client, send(client, target), "runtime_gone_post_paste")
    expect_state(receipt, "unknown", "unconfirmed")


@case("C04", "a dialog opens behind the paste: enter_withheld by its name, unknown, and no key goes into it")
def withheld(world):
    plan = [{"when": {"on": "paste"}, "actions": [{"do": "open", "dialog": "permission"}]}]
    target = world.launch({"plan": plan})
    client = world.local()
    name = send(client, target)
    receipt = with_code(client, name, "enter_withheld:permission")
    expect_state(receipt, "unknown", "unconfirmed")
    behind = send(client, target, "behind it")
    waits = client.call("receipt.get", idempotencyKey=behind)["receipt"]
    expect(waits["state"] == "queued" and waits["input"]["hold"] == "unconfirmed_input", "the next one waits", waits)
    expect(client.call("status", **target)["hold"] == "permission", "the dialog stays")


@case("C05", "a dialog that goes again: our text is taken back out, rejected as proven not submitted")
def taken_back(world):
    plan = [
        {"when": {"on": "paste", "nth": 1}, "actions": [{"do": "open", "dialog": "permission"}]},
        {"when": {"on": "paste", "nth": 1}, "afterMs": 400, "actions": [{"do": "close"}]},
    ]
    target = world.launch({"plan": plan, "turns": [{"forMs": 10}]})
    client = world.local()
    name = send(client, target)
    receipt = told(client, lambda each: each["idempotencyKey"] == name and each["state"] in FINAL)
    expect(receipt["error"]["code"].startswith("enter_withheld"), "by what withheld the Enter", receipt)
    expect_state(receipt, "rejected")
    expect_state(world.settled(client, send(client, target, "the next"), "settled"), "completed")


@case("C06", "an Enter nothing answers: input_acceptance_unconfirmed; a person's word resolves it: not_submitted")
def unanswered(world):
    plan = [{"when": {"on": "enter"}, "actions": [{"do": "stall", "what": "drawing"}]}]
    target = world.launch({"plan": plan, "record": {"write": False}})
    client = world.local()
    name = send(client, target)
    receipt = with_code(client, name, "input_acceptance_unconfirmed")
    expect_state(receipt, "unknown", "unconfirmed")
    again = client.call("turn.send", **target, idempotencyKey=name, text="a request")
    expect(again["status"] == "duplicate", "a retry types nothing", again)
    expect_fine(client.call("receipt.resolve", **target, deliveryId=receipt["deliveryId"], outcome="not_submitted"))
    expect_state(with_code(client, name, "not_submitted"), "rejected")


@case("C07", "a stop that shows no effect: dispatch_ambiguous; one with nothing to stop is rejected")
def ambiguous(world):
    plan = [{"when": {"on": "prompt"}, "afterMs": 600, "actions": [{"do": "stall", "what": "reading"}]}]
    target = world.launch({"plan": plan, "turns": [{"until": "never"}]})
    client = world.local()
    idle = key()
    expect_fine(client.call("turn.stop", **target, idempotencyKey=idle))
    receipt = told(client, lambda each: each["idempotencyKey"] == idle and each["state"] in FINAL)
    expect(receipt["state"] == "rejected" and receipt["error"] is not None, "rejected with a reason", receipt)
    world.settled(client, send(client, target), "started")
    world.until_busy(target)
    time.sleep(0.8)
    stop = key()
    expect_fine(client.call("turn.stop", **target, idempotencyKey=stop))
    expect_state(with_code(client, stop, "dispatch_ambiguous"), "unknown")


@case("C08", "a dispatch that can't be recorded: INTERNAL, rejected, and nothing was typed", own=True)
def unrecorded(world):
    if not hasattr(resource, "prlimit"):
        raise NotHere("no prlimit on this system")
    target = world.launch({"turns": [{"forMs": 10}]})
    client = world.local()
    press = world.draft(client, target)
    name = send(client, target, "not while the disk is full")
    told(client, lambda each: each.get("input", {}).get("hold") == "foreign_draft")
    pid = world.server.process.pid
    usual = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, usual[1]))
    try:
        press(b"\x15")
        time.sleep(1.5)
        screen = client.call("agent.screen", **target)
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)
    expect("while the disk" not in "".join(screen["rows"]), "nothing was typed", screen["rows"])
    expect_state(with_code(client, name, "INTERNAL"), "rejected")


@case("C09", "a text no form of which keeps its meaning is rejected with its reason; nothing was typed")
def refused(world):
    target = world.launch({"turns": [{"forMs": 10}]}, engine="simulated_choosy")
    client = world.local()
    expect_state(with_code(client, send(client, target, "an unspeakable thing"), "body_refused"), "rejected")
    expect_state(world.settled(client, send(client, target, "a thing"), "settled"), "completed")


@case("C10", "equal texts in different turns the record can't tell apart: no completion without a tie")
def twins(world):
    target = world.launch({"turns": [{"text": "same", "forMs": 600}], "busyRule": "native_queue"})
    client = world.local(capabilities=["input.status.v1", "turn.correlation.v2"])
    first = send(client, target, "the same")
    world.settled(client, first, "started")
    second = send(client, target, "the same")
    ends = [world.settled(client, name, "settled") for name in (first, second)]
    client.call("agents.list")
    members = [each["idempotencyKey"] for frame in client.frames if frame.get("kind") == "turn.result"
               for each in frame["payload"]["correlation"]["inputs"]]
    expect(len(members) == len(set(members)), "no key is a member twice", members)
    completed = [each["idempotencyKey"] for each in ends if each["state"] == "completed"]
    expect(set(members) <= set(completed), "only the completed are members", members, ends)


@case("C11", "every question that can't be answered is refused or rejected, and no key goes into the dialog")
def not_offered(world):
    plan = [{"when": {"on": "ready"}, "actions": [{"do": "open", "dialog": "question"}]}]
    client = world.local()
    target = world.launch_holding({"plan": plan})
    opened = client.wait(lambda frame: frame.get("kind") == "question.open" and frame["agentId"] == target["agentId"])
    asked = opened["payload"]["requestId"]
    name = key()
    answer = client.call("question.answer", **target, idempotencyKey=name, questionRequestId=asked,
                         answers={"no such question": "no such answer"})
    expect(answer.get("status") == "accepted", "taken", answer)
    receipt = told(client, lambda each: each["idempotencyKey"] == name and each["state"] in FINAL)
    expect(receipt["state"] == "rejected" and receipt["error"] is not None, "rejected with a reason", receipt)
    status = client.call("status", **target)
    expect((status["openQuestion"] or {}).get("requestId") == asked, "the question is still open", status)
    expect_code(client.call("question.answer", **target, idempotencyKey=key(), questionRequestId="other",
                            answers={"a": "b"}), "QUESTION_STALE")


@case("C12", "killed between the Enter and the turn's end: raised by the record; without one it stays in doubt", own=True)
def killed_between(world):
    target = world.launch({"turns": [{"forMs": 2500, "answer": "Late."}]})
    silent = world.launch({"turns": [{"forMs": 10}], "record": {"write": False}})
    client = world.local()
    name, other = send(client, target), send(client, silent)
    world.settled(client, name, "started")
    world.settled(client, other)
    before = world.server.ready["serverInstanceId"]
    world.server.kill()
    world.server.start()
    again = world.local()
    doubted = again.call("receipt.get", idempotencyKey=other)["receipt"]
    expect(doubted["state"] == "unknown" and doubted["error"]["code"] == "DAEMON_RESTART", "in doubt", doubted)
    expect(doubted["input"]["phase"] == "accepted", "what was seen stays seen", doubted)
    expect(doubted["serverInstanceId"] == before, "the instance it was born in", doubted)
    expect_state(world.settled(again, name, "settled"), "completed")
    copy = again.call("turn.send", **silent, idempotencyKey=other, text="a request")
    expect(copy["status"] == "duplicate", "nothing is sent again", copy)
