"""A device that speaks: sends while the agent is busy, shows receipts, speaks each answer once.

    python3 voice_device.py SOCKET --agent NAME --outbox FILE "First request" "Second request"
    python3 voice_device.py --check-fixtures fixtures/turn-correlation-v2

Python 3 and its standard library only. SOCKET is the path of the daemon's Unix socket.
"""

import argparse
import json
import re
import socket
import sqlite3
import sys
import uuid
from pathlib import Path

WAIT_SECONDS = 60
MAX_RESULT_BYTES = 32 * 1024
OUTCOMES = ("completed", "failed", "cancelled")


class Device:
    """One connection to the daemon. Frames are JSON, one a line."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(WAIT_SECONDS)
        self.socket.connect(path)
        self.lines = self.socket.makefile("r", encoding="utf-8", newline="\n")
        self.events = []

    def call(self, operation, **fields):
        request_id = str(uuid.uuid4())
        frame = {"type": operation, "requestId": request_id, **fields}
        self.socket.sendall((json.dumps(frame) + "\n").encode())
        while True:
            answer = self.read()
            if answer.get("requestId") == request_id:
                if "error" in answer:
                    sys.exit(f"{operation}: {answer['error']['code']}: {answer['error']['message']}")
                return answer
            self.events.append(answer)

    def read(self):
        line = self.lines.readline()
        if line == "":
            sys.exit("the daemon ended the connection")
        return json.loads(line)

    def next_event(self):
        return self.events.pop(0) if self.events else self.read()


class Inbox:
    """The receiver's duties. What is to be spoken is on the disk before it is spoken."""

    def __init__(self, path):
        self.store = sqlite3.connect(path, isolation_level=None)
        self.store.execute("PRAGMA synchronous=FULL")
        self.store.execute("CREATE TABLE IF NOT EXISTS own (key TEXT PRIMARY KEY, delivery TEXT, instance TEXT, agent TEXT)")
        self.store.execute(
            "CREATE TABLE IF NOT EXISTS results (instance TEXT, result TEXT, payload TEXT, spoken TEXT NOT NULL,"
            " PRIMARY KEY (instance, result))"
        )

    def sent(self, receipt):
        values = (receipt["idempotencyKey"], receipt["deliveryId"], receipt["serverInstanceId"], receipt["agentId"])
        self.store.execute("INSERT OR IGNORE INTO own VALUES (?, ?, ?, ?)", values)

    def take(self, event):
        """Applies one `turn.result` event; returns (effect, reason)."""
        payload = event["payload"]
        if not is_result(payload):
            return "refused", "malformed"
        for member in payload["correlation"]["inputs"]:
            own = self.store.execute("SELECT delivery, instance, agent FROM own WHERE key = ?", (member["idempotencyKey"],)).fetchone()
            if own is None:
                return "refused", "unknown_key"
            for mine, theirs, reason in (
                (own[0], member["deliveryId"], "other_delivery"),
                (own[1], payload["serverInstanceId"], "other_instance"),
                (own[2], event.get("agentId"), "other_agent"),
            ):
                if mine != theirs:
                    return "refused", reason
        name = (payload["serverInstanceId"], payload["resultId"])
        known = self.store.execute("SELECT payload FROM results WHERE instance = ? AND result = ?", name).fetchone()
        if known is not None:
            same = json.loads(known[0]) == payload
            return ("already_stored", None) if same else ("protocol_error", "other_content")
        self.store.execute("INSERT INTO results VALUES (?, ?, ?, 'waiting')", (*name, json.dumps(payload)))
        return "stored", None

    def speak(self, say):
        """Each waiting answer once. One whose end was not noted stays `begun`, and is not said again."""
        for instance, result, payload in self.store.execute(
            "SELECT instance, result, payload FROM results WHERE spoken = 'waiting' ORDER BY rowid"
        ).fetchall():
            name = (instance, result)
            # Whoever begins it says it: two processes on one outbox can't both.
            begun = self.store.execute("UPDATE results SET spoken = 'begun' WHERE instance = ? AND result = ? AND spoken = 'waiting'", name)
            if begun.rowcount == 1:
                say(json.loads(payload))
                self.store.execute("UPDATE results SET spoken = 'done' WHERE instance = ? AND result = ?", name)

    def payloads(self):
        return [json.loads(row[0]) for row in self.store.execute("SELECT payload FROM results ORDER BY rowid")]


def is_result(payload):
    """The payload as turn-result.schema.json has it, and what a schema can't say."""
    text = lambda value: isinstance(value, str) and value != ""
    if not isinstance(payload, dict) or set(payload) != {"serverInstanceId", "resultId", "correlation", "outcome", "fullText"}:
        return False
    correlation = payload["correlation"]
    if not isinstance(correlation, dict) or set(correlation) - {"engineTurnId"} != {"scope", "inputs"}:
        return False
    inputs = correlation["inputs"]
    if not isinstance(inputs, list) or not all(
        isinstance(each, dict) and set(each) == {"deliveryId", "idempotencyKey"} and text(each["deliveryId"])
        and isinstance(each["idempotencyKey"], str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each["idempotencyKey"])
        for each in inputs
    ):
        return False
    scope = correlation["scope"]
    count = range(1, 2) if scope == "input" else range(2, 65) if scope == "group" else ()
    differ = all(len({each[field] for each in inputs}) == len(inputs) for field in ("deliveryId", "idempotencyKey"))
    named = text(payload["serverInstanceId"]) and text(payload["resultId"]) and text(payload["fullText"])
    turn = "engineTurnId" not in correlation or text(correlation["engineTurnId"])
    size = len(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    return len(inputs) in count and differ and named and turn and payload["outcome"] in OUTCOMES and size <= MAX_RESULT_BYTES


def run(options):
    device, inbox = Device(options.socket), Inbox(options.outbox)
    capabilities = ["input.status.v1", "turn.correlation.v2"]
    token = {"token": options.token} if options.token else {}
    device.call("hello", proto=1, capabilities=capabilities, **token)
    agents = device.call("agents.list")["agents"]
    agent = next((each for each in agents if each["name"] == options.agent), None)
    if agent is None:
        sys.exit(f"no agent is named {options.agent}; there are {', '.join(each['name'] for each in agents) or 'none'}")
    target = {"machineId": agent["machineId"], "agentId": agent["agentId"]}
    open_keys = set()
    for request in options.requests:
        key = f"voice-{uuid.uuid4().hex}"
        sent = device.call("turn.send", **target, idempotencyKey=key, text=request)
        inbox.sent(sent["receipt"])
        open_keys.add(key)
    while open_keys:
        event = device.next_event()
        if event.get("kind") == "receipt.updated":
            receipt = event["payload"]["receipt"]
            phase = receipt.get("input", {})
            print(f"{receipt['idempotencyKey'][:14]} {receipt['state']:10} {phase.get('mode', '')} {phase.get('phase', '')}")
            if receipt["state"] in ("rejected", "unknown"):
                open_keys.discard(receipt["idempotencyKey"])
        elif event.get("kind") == "turn.result":
            effect, _ = inbox.take(event)
            if effect in ("stored", "already_stored"):
                open_keys -= {each["idempotencyKey"] for each in event["payload"]["correlation"]["inputs"]}
        inbox.speak(lambda payload: print(f"says: {payload['fullText']}"))


def check_fixtures(folder):
    """Every stream has exactly the effects that stand beside it."""
    for path in sorted(folder.glob("*.jsonl")):
        expected = json.loads(path.with_suffix("").with_suffix(".expected.json").read_text())
        inbox, effects, spoken = Inbox(":memory:"), [], []
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            frame = json.loads(line)["frame"]
            if frame["type"] == "turn.send_result" and "receipt" in frame:
                inbox.sent(frame["receipt"])
            if frame.get("kind") == "turn.result":
                effect, reason = inbox.take(frame)
                effects.append({"line": number, "effect": effect, **({"reason": reason} if reason else {})})
                inbox.speak(lambda payload: spoken.append({"resultId": payload["resultId"], "fullText": payload["fullText"]}))
        wanted = [{k: v for k, v in each.items() if k in ("line", "effect", "reason")} for each in expected["effects"]]
        stored = [{"serverInstanceId": each["serverInstanceId"], "resultId": each["resultId"]} for each in inbox.payloads()]
        wanted_stored = [{k: each[k] for k in ("serverInstanceId", "resultId")} for each in expected["stored"]]
        for what, seen, asked in (("effects", effects, wanted), ("stored", stored, wanted_stored), ("utterances", spoken, expected["utterances"])):
            if seen != asked:
                sys.exit(f"{path.name}: {what} are {seen}, not {asked}")
        print(f"{path.stem}: as expected")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("socket", nargs="?")
    parser.add_argument("requests", nargs="*")
    parser.add_argument("--agent", default="one")
    parser.add_argument("--token")
    parser.add_argument("--outbox", default="voice-device.db")
    parser.add_argument("--check-fixtures", type=Path)
    given = parser.parse_intermixed_args()
    if given.check_fixtures:
        check_fixtures(given.check_fixtures)
    elif given.socket and given.requests:
        run(given)
    else:
        parser.error("give the daemon's socket and what to send")
