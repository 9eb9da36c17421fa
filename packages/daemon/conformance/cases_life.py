"""Resume, resync, restart and the end of agents."""

from cases import case, expect, expect_code, expect_fine, key


@case("L01", "events after the cursor are sent again, once and in order")
def resume(world):
    target = world.launch()
    client = world.raw()
    hello = client.hello()
    cursor = {"serverInstanceId": hello["serverInstanceId"], "cursor": hello["cursor"]}
    for count in range(3):
        client.call("focus.set", **target)
        client.call("focus.set", machineId=target["machineId"], agentId=None)
    later = world.raw()
    answer = later.hello(resume=cursor)
    expect(answer["resumed"] is True, "resumed", answer)
    last = answer["cursor"]
    later.wait(lambda frame: frame.get("eventId") == last)
    ids = [frame["eventId"] for frame in later.frames if frame["type"] == "event" and frame["eventId"] <= last]
    expect(ids == sorted(set(ids)) and ids[0] > hello["cursor"], "each once, in order", ids)


@case("L02", "a cursor of another instance: resync instance_changed")
def foreign_cursor(world):
    client = world.raw()
    answer = client.hello(resume={"serverInstanceId": "00000000-0000-4000-8000-000000000000", "cursor": 1})
    expect(answer["resumed"] is False, "nothing is resumed", answer)
    resync = client.wait(lambda frame: frame["type"] == "resync")
    expect(resync["reason"] == "instance_changed", "instance_changed", resync)


@case("L03", "a cursor older than the ring of 500: resync cursor_too_old")
def old_cursor(world):
    target = world.launch()
    client = world.local()
    hello = world.raw().hello()
    for _ in range(260):
        client.call("focus.set", **target)
        client.call("focus.set", machineId=target["machineId"], agentId=None)
    late = world.raw()
    answer = late.hello(resume={"serverInstanceId": hello["serverInstanceId"], "cursor": hello["cursor"]})
    expect(answer["resumed"] is False, "nothing is resumed", answer)
    resync = late.wait(lambda frame: frame["type"] == "resync")
    expect(resync["reason"] == "cursor_too_old", "cursor_too_old", resync)


@case("L04", "killed and started again: agents live, keys are kept, nothing is typed twice", own=True)
def restart(world):
    target = world.launch({"turns": [{"forMs": 10}]})
    client = world.local()
    name = key()
    client.call("turn.send", **target, idempotencyKey=name, text="before")
    world.settled(client, name, "started")
    before = world.server.ready
    world.server.kill()
    world.server.start()
    expect(world.server.ready["serverInstanceId"] != before["serverInstanceId"], "a new instance")
    again = world.local()
    listed = again.call("agents.list")
    expect([agent["agentId"] for agent in listed["agents"]] == [target["agentId"]], "the agent lives", listed)
    repeat = again.call("turn.send", **target, idempotencyKey=name, text="before")
    expect(repeat["status"] == "duplicate", "a duplicate", repeat)
    after = key()
    again.call("turn.send", **target, idempotencyKey=after, text="after")
    expect(world.settled(again, after)["input"]["phase"] == "accepted", "it goes on")


@case("L05", "what was waiting at a kill is rejected as DAEMON_RESTART", own=True)
def restart_waiting(world):
    import base64
    import time

    target = world.launch()
    client = world.local()
    view = client.call("agent.attach", **target)
    client.call("agent.input", attachId=view["attachId"], data=base64.b64encode(b"a draft").decode())
    time.sleep(0.3)
    name = key()
    client.call("turn.send", **target, idempotencyKey=name, text="never")
    world.server.kill()
    world.server.start()
    receipt = world.local().call("receipt.get", idempotencyKey=name)["receipt"]
    expect(receipt["state"] == "rejected" and receipt["error"]["code"] == "DAEMON_RESTART", "DAEMON_RESTART", receipt)


@case("L06", "an agent that ends: what waits is rejected, what was dispatched is unknown", own=True)
def agent_ends(world):
    target = world.launch({"turns": [{"until": "never"}]})
    client = world.local()
    name = key()
    client.call("turn.send", **target, idempotencyKey=name, text="work")
    world.settled(client, name, "started")
    expect_fine(client.call("agent.close", **target))
    receipt = client.call("receipt.get", idempotencyKey=name)["receipt"]
    expect(receipt["state"] == "unknown" and receipt["error"]["code"] == "AGENT_GONE", "AGENT_GONE", receipt)
