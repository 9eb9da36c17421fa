"""The receiver's half of turn.correlation.v2, in an SQLite file. One process at a time has it."""

import json
import os
import sqlite3
import time

SCHEMA = """
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA synchronous = FULL;
BEGIN EXCLUSIVE;
CREATE TABLE IF NOT EXISTS keys (
  key TEXT PRIMARY KEY, machine TEXT, agent TEXT, text TEXT, added REAL,
  delivery TEXT, instance TEXT, state TEXT DEFAULT 'open');
CREATE TABLE IF NOT EXISTS results (
  position INTEGER PRIMARY KEY, instance TEXT, id TEXT, payload TEXT,
  utterance TEXT DEFAULT 'queued', UNIQUE (instance, id));
CREATE TABLE IF NOT EXISTS place (only_row INTEGER PRIMARY KEY, instance TEXT, cursor INTEGER);
UPDATE results SET utterance = 'uncertain' WHERE utterance = 'playing';
COMMIT;
"""
MAX_RESULT_BYTES = 32 * 1024


def is_text(value):
    return isinstance(value, str) and value != ""


def is_member(value):
    fields = {"deliveryId", "idempotencyKey"}
    return isinstance(value, dict) and set(value) == fields and all(map(is_text, value.values()))


def is_result(payload):
    """Strict: an unknown field, a member named twice or more than 32 KiB is no result."""
    fields = {"serverInstanceId", "resultId", "correlation", "outcome", "fullText"}
    if not isinstance(payload, dict) or set(payload) != fields:
        return False
    correlation = payload["correlation"]
    if not isinstance(correlation, dict) or not isinstance(correlation.get("inputs"), list):
        return False
    members, scope = correlation["inputs"], correlation.get("scope")
    if set(correlation) - {"engineTurnId"} != {"scope", "inputs"} or not all(map(is_member, members)):
        return False
    if not (len(members) == 1 if scope == "input" else scope == "group" and 2 <= len(members) <= 64):
        return False
    for name in ("deliveryId", "idempotencyKey"):
        if len({member[name] for member in members}) != len(members):
            return False
    texts = [payload["serverInstanceId"], payload["resultId"], payload["fullText"]]
    if not all(map(is_text, [*texts, correlation.get("engineTurnId", "none")])):
        return False
    plain = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    is_small = len(plain.encode("utf-8", "backslashreplace")) <= MAX_RESULT_BYTES
    return is_small and payload["outcome"] in ("completed", "failed", "cancelled")


class Inbox:
    """Each `with self.db` is one durable step: done whole, or not at all."""

    def __init__(self, path):
        if path != ":memory:":
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        self.db = sqlite3.connect(path, timeout=0)
        # What an earlier process left in playback is uncertain from here on.
        self.db.executescript(SCHEMA)

    def expect(self, key, machine, agent, text):
        """Before the request is sent."""
        row = (key, machine, agent, text, time.time())
        sql = "INSERT OR IGNORE INTO keys (key, machine, agent, text, added) VALUES (?, ?, ?, ?, ?)"
        with self.db:
            self.db.execute(sql, row)

    def open_keys(self, added_after):
        sql = """SELECT key, machine, agent, text, added, delivery FROM keys
                 WHERE state = 'open' AND added > ? ORDER BY rowid LIMIT 64"""
        return self.db.execute(sql, (added_after,)).fetchall()

    def receipt(self, receipt):
        """The first delivery of an own key stays. What was rejected has no answer to wait for."""
        own = (receipt["idempotencyKey"], receipt["machineId"], receipt["agentId"])
        delivery, instance = receipt["deliveryId"], receipt["serverInstanceId"]
        where = "WHERE key = ? AND machine = ? AND agent = ?"
        with self.db:
            self.db.execute(
                f"UPDATE keys SET delivery = ?, instance = ? {where} AND delivery IS NULL",
                (delivery, instance, *own),
            )
            if receipt["state"] == "rejected":
                self.db.execute(
                    f"UPDATE keys SET state = 'rejected' {where} AND delivery = ? AND state = 'open'",
                    (*own, delivery),
                )

    def result(self, event):
        """Applies a turn.result whole or not at all; gives the effect and its reason."""
        payload = event["payload"]
        if not is_result(payload):
            return "refused", "malformed"
        for member in payload["correlation"]["inputs"]:
            sql = "SELECT delivery, instance, machine, agent FROM keys WHERE key = ?"
            own = self.db.execute(sql, (member["idempotencyKey"],)).fetchone()
            if own is None:
                return "refused", "unknown_key"
            if own[0] is None:
                return "waiting", None
            if own[0] != member["deliveryId"]:
                return "refused", "other_delivery"
            if own[1] != payload["serverInstanceId"]:
                return "refused", "other_instance"
            if own[2:] != (event.get("machineId"), event.get("agentId")):
                return "refused", "other_agent"
        return self._store(payload)

    def _store(self, payload):
        name = (payload["serverInstanceId"], payload["resultId"])
        sql = "SELECT payload FROM results WHERE instance = ? AND id = ?"
        kept = self.db.execute(sql, name).fetchone()
        if kept and json.loads(kept[0]) == payload:
            return "already_stored", None
        if kept:
            return "protocol_error", "other_content"
        keys = [(member["idempotencyKey"],) for member in payload["correlation"]["inputs"]]
        with self.db:
            sql = "INSERT INTO results (instance, id, payload) VALUES (?, ?, ?)"
            self.db.execute(sql, (*name, json.dumps(payload)))
            self.db.executemany("UPDATE keys SET state = 'answered' WHERE key = ?", keys)
        return "stored", None

    def results(self, utterance):
        sql = "SELECT position, payload FROM results WHERE utterance = ? ORDER BY position"
        rows = self.db.execute(sql, (utterance,)).fetchall()
        return [(position, json.loads(payload)) for position, payload in rows]

    def speak(self, play):
        """`play` gives 'spoken', 'uncertain', or 'queued' where certainly nothing was heard."""
        for position, result in self.results("queued"):
            self._utterance(position, "playing")
            self._utterance(position, play(result))

    def _utterance(self, position, state):
        with self.db:
            self.db.execute("UPDATE results SET utterance = ? WHERE position = ?", (state, position))

    def place(self):
        """Behind the last event that was applied; before all events where there was none."""
        row = self.db.execute("SELECT instance, cursor FROM place").fetchone() or ("none", 0)
        return {"serverInstanceId": row[0], "cursor": row[1]}

    def move(self, instance, cursor):
        with self.db:
            self.db.execute("INSERT OR REPLACE INTO place VALUES (1, ?, ?)", (instance, cursor))
