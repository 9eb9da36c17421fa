"""The device's round: connect, ask what became of things, send, listen, speak; and again when the connection is lost."""

import random
import time

from client import Client
from sender import Sender
from stream import Lost, Refused

LIMITS = {"reply": 20, "watch": 600, "give_up": 600}
POLL_SECONDS = 20
LATE_RESULT_SECONDS = 5
LISTEN_SECONDS = 1
# While something is played its end has to be seen soon.
LISTEN_WHILE_SPEAKING_SECONDS = 0.1
FIRST_PAUSE_SECONDS = 0.2
MAX_PAUSE_SECONDS = 10
NO_INSTANCE = "00000000-0000-4000-8000-000000000000"


class Device:
    def __init__(self, outbox, speaker, tell, where, limits=None):
        """`where`: address, token or None, certificate file or None."""
        self._outbox = outbox
        self._speaker = speaker
        self._tell = tell
        self._where = where
        self._limits = {**LIMITS, **(limits or {})}
        self._sender = Sender(outbox, tell)
        self._machine = None
        self._reached = time.monotonic()
        self._asked_all = False

    def run(self):
        """Until nothing is open (True), or only doubts have been left for a while (False).

        Raises Lost where the daemon can't be reached for too long, Refused where it won't have us.
        """
        pause = FIRST_PAUSE_SECONDS
        while not self._is_done():
            reached = self._reached
            try:
                client = Client(*self._where, reply_seconds=self._limits["reply"])
                try:
                    self._enter(client)
                    return self._work(client)
                finally:
                    client.close()
            except Lost as lost:
                if time.monotonic() - self._reached > self._limits["give_up"]:
                    raise
                self._sender.once(("lost", str(lost)), f"the connection is lost ({lost}); trying again")
            pause = FIRST_PAUSE_SECONDS if self._reached != reached else min(pause * 2, MAX_PAUSE_SECONDS)
            time.sleep(pause * random.uniform(0.5, 1))
            self._speaker.step()
        return True

    def _is_done(self):
        return not self._outbox.open_requests() and not self._speaker.busy

    def _enter(self, client):
        cursor = self._outbox.fact("cursor")
        hello = client.hello(cursor)
        self._machine = hello["machineId"]
        if self._outbox.fact("machine") not in (None, self._machine):
            raise Refused("this outbox belongs to another machine: what was sent there can't be asked for here")
        self._outbox.set_fact("machine", self._machine)
        if cursor is None:
            self._see(hello["serverInstanceId"], hello["cursor"])
        # Before what was replayed is handled: a result is applied to requests whose receipt is known.
        self._sender.ask_receipts(client, self._machine)
        self._reached = time.monotonic()

    def _work(self, client):
        polled = moved = time.monotonic()
        while True:
            self._sender.send_stored(client)
            self._speaker.step()
            if self._is_done():
                return True
            now = self._reached = time.monotonic()
            open_requests, busy = self._outbox.open_requests(), self._speaker.busy
            if busy or any(each["state"] not in ("unknown", "completed") for each in open_requests):
                moved = now
            if now - moved > self._limits["watch"]:
                return False
            if now - moved > LATE_RESULT_SECONDS:
                self._ask_results(client, open_requests)
            if now - polled > POLL_SECONDS:
                polled = now
                self._sender.ask_receipts(client, self._machine)
            frame = client.next_event(LISTEN_WHILE_SPEAKING_SECONDS if busy else LISTEN_SECONDS)
            if frame is not None:
                self._handle(frame)

    def _ask_results(self, client, open_requests):
        """Done, but without an answer: all kept results are asked for, once, by a cursor of nowhere."""
        silent = [each for each in open_requests if each["state"] == "completed" or each["key"] in self._sender.gone]
        if silent and not self._asked_all:
            self._asked_all = time.monotonic()
            client.hello({"serverInstanceId": NO_INSTANCE, "cursor": 0})
        elif silent and time.monotonic() - self._asked_all > LATE_RESULT_SECONDS:
            self._asked_all = False
            for request in silent:
                how = "it is done" if request["state"] == "completed" else "its receipt is gone"
                self._sender.end(request, "expired", f"{how}, and there is no answer that is its own")

    def _handle(self, frame):
        payload = frame.get("payload")
        if frame.get("kind") == "receipt.updated":
            self._sender.receipt(payload["receipt"])
        elif frame.get("kind") == "turn.result":
            effect, reason = self._outbox.take(frame)
            if effect == "protocol_error":
                self._tell(f"the server gave one result two contents ({reason}); the first one stays")
        if frame.get("type") == "event":
            # Behind what it did: an event that was handled halfway comes again.
            self._see(frame["serverInstanceId"], frame["eventId"])
        elif frame.get("type") == "resync":
            self._see(frame["serverInstanceId"], frame["cursor"])

    def _see(self, instance, event_id):
        """The cursor never goes back: results that are sent again keep their old ids."""
        before = self._outbox.fact("cursor")
        newest = event_id if before is None else max(event_id, before["cursor"])
        if before != {"serverInstanceId": instance, "cursor": newest}:
            self._outbox.set_fact("cursor", {"serverInstanceId": instance, "cursor": newest})
