"""What the device must not forget: requests before they are sent, results before they are spoken.

A request goes `stored` → `sending` → what its receipt says; `refused` and `expired` are ours, and final. Its key is
on the disk with its text, so no crash makes a second key for the same utterance. An answer goes `waiting` → `begun`
→ `done`; one that was `begun` by a process that is gone is `uncertain`, and is not spoken again.
"""

import fcntl
import json
import os
import sqlite3
import time
import uuid

from results import is_result

FINAL = ("completed", "rejected", "refused", "expired")
RANK = {"queued": 0, "unknown": 1, "delivered": 1, "started": 2, "completed": 3, "rejected": 3}
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS requests (utterance TEXT PRIMARY KEY, key TEXT UNIQUE NOT NULL, text TEXT, agent TEXT,
  machine_id TEXT, agent_id TEXT, said_at REAL, sent_at REAL, state TEXT NOT NULL, code TEXT, delivery TEXT,
  instance TEXT, receipt_agent TEXT, changed_at INTEGER, answered INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS results (instance TEXT, result TEXT, payload TEXT, spoken TEXT NOT NULL,
  PRIMARY KEY (instance, result));
"""


class Outbox:
    def __init__(self, path):
        if path != ":memory:":
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            self._lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            os.close(descriptor)
            # Two processes would speak over each other; the second one is told so.
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._store = sqlite3.connect(path, isolation_level=None)
        self._store.row_factory = sqlite3.Row
        self._store.execute("PRAGMA synchronous=FULL")
        self._store.executescript(SCHEMA)

    def fact(self, name):
        row = self._store.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row["value"])

    def set_fact(self, name, value):
        self._store.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    def utter(self, utterance, text, agent):
        """Stores what a person said, with its key. The same utterance again changes nothing."""
        values = (utterance, f"voice-{uuid.uuid4().hex}", text, agent, time.time())
        self._store.execute(
            "INSERT OR IGNORE INTO requests (utterance, key, text, agent, said_at, state) VALUES (?, ?, ?, ?, ?, 'stored')",
            values,
        )

    def adopt(self, receipt):
        """A request of this device that something else sent."""
        self._store.execute(
            "INSERT OR IGNORE INTO requests (utterance, key, state) VALUES (?, ?, 'sending')",
            (str(uuid.uuid4()), receipt["idempotencyKey"]),
        )
        self.note(receipt)

    def untaken(self):
        """How many requests ended without an answer."""
        count = "SELECT count(*) AS n FROM requests WHERE state IN ('rejected', 'refused', 'expired')"
        return self._store.execute(count).fetchone()["n"]

    def open_requests(self):
        """In their order: neither settled nor answered; a completed one until its answer is here."""
        return self._store.execute(
            "SELECT * FROM requests WHERE answered = 0 AND state NOT IN ('rejected', 'refused', 'expired') ORDER BY rowid"
        ).fetchall()

    def sending(self, key, machineId, agentId):
        """Before each request leaves: from here on only the server knows."""
        self._store.execute(
            "UPDATE requests SET state = 'sending', machine_id = ?, agent_id = ?, sent_at = coalesce(sent_at, ?)"
            " WHERE key = ?",
            (machineId, agentId, time.time(), key),
        )

    def put_off(self, key):
        """It was refused for the moment, and nothing is claimed."""
        self._store.execute("UPDATE requests SET state = 'stored' WHERE key = ? AND state = 'sending'", (key,))

    def end(self, key, state, code=None):
        self._store.execute("UPDATE requests SET state = ?, code = ? WHERE key = ?", (state, code, key))

    def note(self, receipt):
        """Keeps what a receipt says of an own request. The state before, or None where it is no news."""
        key, state, changed_at = receipt["idempotencyKey"], receipt["state"], receipt["at"]
        row = self._store.execute("SELECT * FROM requests WHERE key = ?", (key,)).fetchone()
        if row is None or row["state"] in FINAL or row["delivery"] not in (None, receipt["deliveryId"]):
            return None
        code = (receipt["error"] or {}).get("code")
        # What is sent again may be older than what is known; a doubt is only believed where it is newer.
        older = changed_at < (row["changed_at"] or 0) if state == "unknown" else RANK[state] < RANK.get(row["state"], -1)
        if older or (row["state"], row["code"]) == (state, code):
            return None
        self._store.execute(
            "UPDATE requests SET state = ?, code = ?, delivery = ?, instance = ?, receipt_agent = ?, changed_at = ?"
            " WHERE key = ?",
            (state, code, receipt["deliveryId"], receipt["serverInstanceId"], receipt["agentId"], changed_at, key),
        )
        return row["state"]

    def take(self, event):
        """Applies one `turn.result` event, whole or not at all; returns (effect, reason)."""
        payload = event["payload"]
        if not is_result(payload):
            return "refused", "malformed"
        members = payload["correlation"]["inputs"]
        for member in members:
            own = self._store.execute("SELECT * FROM requests WHERE key = ?", (member["idempotencyKey"],)).fetchone()
            if own is None or own["delivery"] is None:
                return "refused", "unknown_key"
            for mine, theirs, reason in (
                (own["delivery"], member["deliveryId"], "other_delivery"),
                (own["instance"], payload["serverInstanceId"], "other_instance"),
                (own["receipt_agent"], event.get("agentId"), "other_agent"),
            ):
                if mine != theirs:
                    return "refused", reason
        name = (payload["serverInstanceId"], payload["resultId"])
        known = self._store.execute("SELECT payload FROM results WHERE instance = ? AND result = ?", name).fetchone()
        if known is not None:
            same = json.loads(known["payload"]) == payload
            return ("already_stored", None) if same else ("protocol_error", "other_content")
        self._store.execute("BEGIN IMMEDIATE")
        self._store.execute("INSERT INTO results VALUES (?, ?, ?, 'waiting')", (*name, json.dumps(payload)))
        for member in members:
            self._store.execute("UPDATE requests SET answered = 1 WHERE key = ?", (member["idempotencyKey"],))
        self._store.execute("COMMIT")
        return "stored", None

    def payloads(self):
        return [json.loads(row["payload"]) for row in self._store.execute("SELECT payload FROM results ORDER BY rowid")]

    def spoken(self, state):
        """The answers in that state, oldest first: (instance, resultId) and payload."""
        rows = self._store.execute("SELECT * FROM results WHERE spoken = ? ORDER BY rowid", (state,))
        return [((row["instance"], row["result"]), json.loads(row["payload"])) for row in rows.fetchall()]

    def move(self, name, before, after):
        """True where this call moved it: whoever begins an answer says it."""
        update = "UPDATE results SET spoken = ? WHERE instance = ? AND result = ? AND spoken = ?"
        return self._store.execute(update, (after, *name, before)).rowcount == 1
