"""How much a device may have open, and how fast it may ask."""

import time

from cases import case, expect, expect_code, expect_fine, key
from wire import SEEN, code_of

MOST = 512
REQUEST_CODES = set(
    "INVALID_REQUEST HELLO_REQUIRED PROTO_UNSUPPORTED UNAUTHENTICATED UNSUPPORTED_CAPABILITY MISSING_TARGET "
    "MACHINE_MISMATCH AGENT_NOT_FOUND NO_AGENTS FOCUS_UNAVAILABLE FOCUS_CHANGED PAYLOAD_TOO_LARGE QUESTION_STALE "
    "IDEMPOTENCY_CONFLICT BACKPRESSURE RATE_LIMITED SUBSCRIPTION_LIMIT REVOKED INTERNAL".split()
)
EVENT_KINDS = set(
    "receipt.updated turn.started turn.done turn.error turn.summary turn.tool turn.result agent.error "
    "question.open question.close focus.changed agents.changed".split()
)
RECEIPT_CODES = set(
    "NOT_CONFIRMED OVERLAPPING_INPUTS RESULT_EVIDENCE_MISSING RESULT_NOT_COMPLETED TURN_INTERRUPTED AGENT_GONE "
    "DAEMON_RESTART REVOKED INTERNAL agent_gone queue_full runtime_gone_post_paste dispatch_ambiguous "
    "input_acceptance_unconfirmed not_submitted".split()
)
STATES = {"queued", "delivered", "started", "unknown", "completed", "rejected"}
MODES = {"direct", "steering", "native_queue", "native_input", "daemon_queue"}
PHASES = {"waiting_for_writer", "waiting_for_user", "waiting_for_turn", "submitted", "accepted", "unconfirmed"}


@case("Q01", "512 unresolved receipts are BACKPRESSURE; settled ones leave early; other devices don't feel it", own=True)
def full(world):
    client = world.local()
    done = world.launch({"turns": [{"forMs": 5}]})
    settled = [key() for _ in range(2)]
    for name in settled:
        client.call("turn.send", **done, idempotencyKey=name, text="done")
        world.settled(client, name, "settled")
    agents = [world.launch({"turns": [{"until": "never"}], "boundaryMs": 20}) for _ in range(3)]
    names = fill(client, agents, MOST - len(settled))
    expect(client.call("receipt.get", idempotencyKey=settled[0])["receipt"] is not None, "all 512 are kept")
    names += fill(client, agents, len(settled))
    expect(client.call("receipt.get", idempotencyKey=settled[1])["receipt"] is None, "the settled ones left")
    request = {**agents[0], "idempotencyKey": key(), "text": "one too many"}
    expect_code(client.call("turn.send", **request), "BACKPRESSURE")
    expect_code(client.call("turn.stop", **agents[0], idempotencyKey=key()), "BACKPRESSURE")
    expect(client.call("receipt.get", idempotencyKey=request["idempotencyKey"])["receipt"] is None, "nothing is claimed")
    copy = client.call("turn.send", **agents[0], idempotencyKey=names[0], text=f"text {names[0]}")
    expect(copy.get("status") == "duplicate", "a duplicate is answered", copy)
    gone = {**request, "agentId": "nobody"}
    expect_code(client.call("turn.send", **gone), "AGENT_NOT_FOUND")
    stale = {"questionRequestId": "q", "answers": {"a": "b"}}
    expect_code(client.call("question.answer", **agents[0], **stale, idempotencyKey=key()), "QUESTION_STALE")
    _, token = world.device("other")
    other = world.raw()
    expect_fine(other.hello(token=token))
    expect(other.call("turn.send", **request)["status"] == "accepted", "another device has room")
    world.server.kill()
    world.server.start()
    expect_code(world.local().call("turn.send", **request), "BACKPRESSURE")


def fill(client, agents, count):
    """That many receipts that stay open: consumed in turns that don't end."""
    names, open_keys = [], []
    while len(names) < count:
        name = key()
        agent = agents[len(names) % len(agents)]
        sent = client.call("turn.send", **agent, idempotencyKey=name, text=f"text {name}")
        expect(sent.get("status") == "accepted", f"number {len(names)} is taken", sent)
        names.append(name)
        open_keys.append(name)
        if len(open_keys) >= 6 * len(agents):
            started(client, open_keys.pop(0))
    for name in open_keys:
        started(client, name)
    client.frames.clear()
    return names


def started(client, name):
    waited = client.call("receipt.wait", idempotencyKey=name, until="started", timeoutMs=15000)
    expect(waited["receipt"]["state"] == "started", "it stays open", waited)


@case("Q02", "a device that isn't local has the usual limits, whatever the local ones are")
def device_limits(world):
    _, token = world.device("usual")
    client = world.raw()
    expect_fine(client.hello(token=token))
    codes = [code_of(client.call("focus.get")) for _ in range(21)]
    expect(codes == [None] * 20 + ["RATE_LIMITED"], "twenty, then RATE_LIMITED", codes)
    expect([code_of(world.local().call("focus.get")) for _ in range(1)] == [None], "local ones go on")
    time.sleep(1.1)
    expect_fine(client.call("focus.get"))


@case("Q03", "what is answered is no longer in flight; a refusal claims nothing", quotas=True)
def in_flight(world):
    target = world.launch({"turns": [{"until": "never"}]})
    client = world.local()
    name = key()
    expect_fine(client.call("turn.send", **target, idempotencyKey=name, text="work"))
    waits = [client.send("receipt.wait", idempotencyKey=name, until="settled", timeoutMs=700) for _ in range(4)]
    refused = key()
    expect_code(client.call("turn.send", **target, idempotencyKey=refused, text="more"), "BACKPRESSURE")
    for request_id in waits:
        expect_fine(client.wait(lambda frame, which=request_id: frame.get("requestId") == which))
    expect(client.call("receipt.get", idempotencyKey=refused)["receipt"] is None, "nothing is claimed")


@case("Q04", "a request over the rate is not carried out", quotas=True)
def over_the_rate(world):
    target = world.launch()
    client = world.local()
    revision = client.call("focus.get")["focusRevision"]
    for _ in range(19):
        client.call("focus.get")
    name = key()
    expect_code(client.call("turn.send", **target, idempotencyKey=name, text="too fast"), "RATE_LIMITED")
    expect_code(client.call("focus.set", **target), "RATE_LIMITED")
    other = world.local()
    expect(other.call("receipt.get", idempotencyKey=name)["receipt"] is None, "nothing is claimed")
    expect(other.call("focus.get")["focusRevision"] == revision, "nor changed")


@case("Z01", "over all cases: only codes, states, modes, phases and events the contract has, and each of its codes was seen")
def vocabulary(world):
    world.local().call("agents.list")
    modes, phases = {mode for mode, _ in SEEN.inputs}, {phase for _, phase in SEEN.inputs}
    for seen, known in ((SEEN.requests, REQUEST_CODES), (SEEN.kinds, EVENT_KINDS), (SEEN.states, STATES),
                        (modes, MODES), (phases, PHASES)):
        expect(seen <= known, "nothing the contract doesn't have", sorted(seen - known))
    upper = {code for code in SEEN.receipts if code and code.isupper()}
    expect(upper <= RECEIPT_CODES, "no receipt code of its own", sorted(upper))
    if not world.complete:
        return
    for seen, known in ((SEEN.requests, REQUEST_CODES), (SEEN.receipts, RECEIPT_CODES), (SEEN.states, STATES)):
        expect(known <= seen, "each of them was provoked", sorted(known - seen))
