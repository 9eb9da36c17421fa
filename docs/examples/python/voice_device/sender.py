"""Sends what is in the outbox, in its order, and keeps what the receipts say.

A request whose reply was lost is never sent again on a hunch. Its receipt is asked for; only where there is none, on
the same machine and within the time a receipt is kept, is it sent again, under the same key: had it arrived after
all, it would be answered as a duplicate. One whose receipt says `unknown` stays watched: the record may still tell.
"""

import time

from client import Denied
from stream import Lost

# A receipt is kept for 30 minutes behind its last change: until well before that, none means that none was made.
ABSENT_SECONDS = 20 * 60
# What a person said longer ago than this and never left the device is not sent any more.
STALE_SECONDS = 10 * 60
NEXT_TRY_SECONDS = 1.2
FOR_THE_MOMENT = ("RATE_LIMITED", "BACKPRESSURE")


class Sender:
    def __init__(self, outbox, tell):
        self._outbox = outbox
        self._tell = tell
        self._told = set()
        self._not_before = 0
        # Their receipts have settled and left.
        self.gone = set()

    def send_stored(self, client):
        for request in self._outbox.open_requests():
            if request["state"] == "sending":
                # It was lost in between: what is behind it waits for its receipt.
                return
            if request["state"] != "stored":
                continue
            if time.monotonic() < self._not_before:
                return
            if time.time() - request["said_at"] > STALE_SECONDS:
                self.end(request, "expired", "it was not sent in time, and is not sent any more")
            elif not self._send(client, request):
                self._not_before = time.monotonic() + NEXT_TRY_SECONDS
                return

    def _send(self, client, request):
        """False where it has to wait; behind it everything has to."""
        key, target = request["key"], self._target(client, request)
        if target is None:
            return False
        self._outbox.sending(key, **target)
        try:
            answer = client.call("turn.send", **target, idempotencyKey=key, text=request["text"])
        except Denied as denied:
            if denied.code == "INTERNAL":
                raise Lost("the server failed") from denied
            if denied.code in FOR_THE_MOMENT:
                self._outbox.put_off(key)
                return False
            self.end(request, "refused", f"it was refused ({denied}); nothing was typed", denied.code)
            return True
        self.receipt(answer["receipt"])
        return True

    def _target(self, client, request):
        """The agent as it was named first: the same key never goes to another one."""
        if request["agent_id"] is not None:
            return {"machineId": request["machine_id"], "agentId": request["agent_id"]}
        names = []
        for agent in every_agent(client):
            if agent["name"] == request["agent"]:
                return {"machineId": agent["machineId"], "agentId": agent["agentId"]}
            names.append(agent["name"])
        names = ", ".join(names) or "none"
        self.once(("no agent", request["key"]), f"no agent is named {request['agent']} yet; there are: {names}")
        return None

    def ask_receipts(self, client, machine_id):
        """What the receipts say by now of everything that may have left the device."""
        for request in self._outbox.open_requests():
            if request["state"] == "stored":
                continue
            receipt = client.ask("receipt.get", idempotencyKey=request["key"])["receipt"]
            if receipt is not None:
                self.receipt(receipt)
            elif request["state"] != "sending":
                self.gone.add(request["key"])
            elif 0 <= time.time() - request["sent_at"] < ABSENT_SECONDS and request["machine_id"] == machine_id:
                self._outbox.put_off(request["key"])
            else:
                self.end(request, "expired", "nobody can say any more whether it was taken; it is not sent again")

    def receipt(self, receipt):
        before = self._outbox.note(receipt)
        if before is None:
            return
        status = receipt.get("input", {})
        name, state = receipt["idempotencyKey"][:14], receipt["state"]
        print(f"{name} {state:10} {status.get('mode', '')} {status.get('phase', '')}", flush=True)
        error = receipt["error"] or {}
        if state == "unknown":
            doubt = f"{name}: it can't be told now ({error.get('code')}); it is watched, and not sent again"
            self.once((name, error.get("code")), doubt)
        elif state == "rejected":
            self._tell(f"{name}: nothing was submitted ({error.get('code')}): {error.get('message')}")
        elif before == "unknown":
            self._tell(f"{name}: it was taken after all")

    def end(self, request, state, why, code=None):
        self._outbox.end(request["key"], state, code)
        self._tell(f"{request['key'][:14]} ({request['text']}): {why}")

    def once(self, what, words):
        if what not in self._told:
            self._told.add(what)
            self._tell(words)


def every_agent(client):
    """The running agents, however many answers they take."""
    page = client.ask("agents.list")
    while True:
        yield from page["agents"]
        if page["complete"] or not page["agents"]:
            return
        page = client.ask("agents.list", after=page["agents"][-1]["agentId"])
