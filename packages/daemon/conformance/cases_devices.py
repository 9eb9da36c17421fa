"""Devices: tokens, isolation and revocation."""

from cases import case, expect, expect_code, expect_fine, key
from wire import code_of

LOCAL_ONLY = {
    "agent.launch": {"name": "x", "engine": "generic", "cwd": "/"},
    "agent.sessions": {},
    "device.list": {},
    "device.add": {"name": "x"},
    "device.revoke": {"deviceId": "x"},
    "server.status": {},
}


@case("D01", "what only the machine's own user may ask is UNSUPPORTED_CAPABILITY for others")
def local_only(world):
    _, token = world.device("one")
    target = world.launch()
    client = world.raw()
    expect_fine(client.hello(token=token))
    for operation, fields in LOCAL_ONLY.items():
        expect_code(client.call(operation, **fields), "UNSUPPORTED_CAPABILITY")
    for operation in ("agent.close", "agent.screen", "agent.attach"):
        expect_code(client.call(operation, **target), "UNSUPPORTED_CAPABILITY")
    expect_fine(client.call("status", **target))


@case("D02", "a token is shown once and listed never")
def tokens(world):
    device, token = world.device("one")
    listed = world.local().call("device.list")
    one = next(each for each in listed["devices"] if each["deviceId"] == device)
    expect(token not in str(listed) and one["revoked"] is False, "no token in the list", one)


@case("D03", "no device sees another's keys, receipts or events")
def isolation(world):
    target = world.launch()
    clients = []
    for name in ("one", "two"):
        _, token = world.device(name)
        client = world.raw()
        expect_fine(client.hello(token=token))
        clients.append(client)
    one, two = clients
    name = key()
    mine = one.call("turn.send", **target, idempotencyKey=name, text="from one")
    expect(mine["status"] == "accepted", "taken", mine)
    expect(two.call("receipt.get", idempotencyKey=name)["receipt"] is None, "unknown to the other")
    expect(two.call("receipts.list")["receipts"] == [], "no list of the other's")
    theirs = two.call("turn.send", **target, idempotencyKey=name, text="from two")
    expect(theirs["status"] == "accepted", "the same key is another's own", theirs)
    expect(theirs["receipt"]["deliveryId"] != mine["receipt"]["deliveryId"], "two deliveries")
    world.settled(one, name)
    world.settled(two, name)
    for client, own in ((one, mine), (two, theirs)):
        for frame in client.frames:
            if frame.get("kind") == "receipt.updated":
                seen = frame["payload"]["receipt"]["deliveryId"]
                expect(seen == own["receipt"]["deliveryId"], "only its own receipts are told", frame)
            if frame.get("kind") == "turn.started":
                expect(set(frame["payload"]["deliveryIds"]) <= {own["receipt"]["deliveryId"]}, "no other's deliveries", frame)


@case("D04", "pair.revoke ends the device: REVOKED from then on")
def giving_up(world):
    _, token = world.device("one")
    client = world.raw()
    expect_fine(client.hello(token=token))
    expect_fine(client.call("pair.revoke"))
    expect(client.until_ended(), "its connection ends")
    later = world.raw()
    expect_code(later.hello(token=token), "REVOKED")
    expect(later.until_ended(), "and so does the next")
    expect_code(world.local().call("pair.revoke"), "UNSUPPORTED_CAPABILITY")


@case("D05", "device.revoke ends its connections, and what of its inputs was not written is REVOKED", own=True)
def revoking(world):
    import base64
    import time

    target = world.launch()
    local = world.local()
    view = local.call("agent.attach", **target)
    local.call("agent.input", attachId=view["attachId"], data=base64.b64encode(b"a draft").decode())
    time.sleep(0.3)
    device, token = world.device("one")
    client = world.raw()
    expect_fine(client.hello(token=token))
    name = key()
    sent = client.call("turn.send", **target, idempotencyKey=name, text="never")
    expect(sent["receipt"]["state"] == "queued", "it waits", sent)
    expect_fine(local.call("device.revoke", deviceId=device))
    said = client.wait(lambda frame: frame.get("kind") == "receipt.updated"
                       and frame["payload"]["receipt"]["state"] == "rejected")
    expect(said["payload"]["receipt"]["error"]["code"] == "REVOKED", "REVOKED", said)
    expect(client.until_ended(), "its connection ends")
