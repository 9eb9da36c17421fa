"""The receiver's part of `turn.correlation.v2`: a result is stored once and spoken at most once."""

import json
import sqlite3
import time

MAX_RESULT_BYTES = 32768
# Sent again only while the server certainly still knows the key.
RESEND_SECONDS = 600

SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS ask (
  key TEXT PRIMARY KEY, machine TEXT NOT NULL, agent TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL,
  delivery TEXT, instance TEXT, answered INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS result (
  place INTEGER PRIMARY KEY, instance TEXT NOT NULL, result TEXT NOT NULL, payload TEXT NOT NULL,
  speech TEXT NOT NULL DEFAULT 'queued' CHECK (speech IN ('queued', 'playing', 'spoken')),
  UNIQUE (instance, result)
);
CREATE TABLE IF NOT EXISTS resume_point (one INTEGER PRIMARY KEY CHECK (one = 1), instance TEXT, cursor INTEGER);
"""


class ResultInbox:
    """A file that survives the device. Every method is one transaction, done whole or not at all."""

    def __init__(self, path):
        self._db = sqlite3.connect(path)
        self._db.executescript(SCHEMA)
        # What a crash interrupted was perhaps heard: it is never played again.
        self.uncertain = [row[0] for row in self._db.execute("SELECT result FROM result WHERE speech = 'playing'")]

    def close(self):
        self._db.close()

    # Requests

    def own(self, key, machine, agent, text):
        """Before a request is sent: its key is this device's own."""
        with self._db:
            fields = (key, machine, agent, text, time.time())
            self._db.execute("INSERT INTO ask (key, machine, agent, text, at) VALUES (?, ?, ?, ?, ?)", fields)

    def delivered(self, receipt):
        """When a receipt is known: the delivery that belongs to the key, and where it was born."""
        fields = (receipt["deliveryId"], receipt["serverInstanceId"], receipt["idempotencyKey"])
        with self._db:
            self._db.execute("UPDATE ask SET delivery = ?, instance = ? WHERE key = ?", fields)

    def refused(self, key):
        """When a request was refused: nothing was done under its key, and no result will name it."""
        with self._db:
            self._db.execute("DELETE FROM ask WHERE key = ? AND delivery IS NULL", (key,))

    def without_answer(self):
        """Requests sent, their receipts lost: (machine, agent, key, text) to send again as they were."""
        since = time.time() - RESEND_SECONDS
        return self._db.execute(
            "SELECT machine, agent, key, text FROM ask WHERE delivery IS NULL AND at > ?", (since,)
        ).fetchall()

    def unanswered(self):
        return [row[0] for row in self._db.execute("SELECT key FROM ask WHERE answered = 0 ORDER BY rowid")]

    # Results

    def take(self, event):
        """What a `turn.result` event does: (effect, reason). Nothing is applied but by `stored`."""
        payload = event["payload"]
        if not is_result(payload):
            return "refused", "malformed"
        for member in payload["correlation"]["inputs"]:
            reason = self._mismatch(member, payload["serverInstanceId"], event.get("agentId"))
            if reason == "delivery_not_known_yet":
                return "waiting", reason
            if reason:
                return "refused", reason
        where = (payload["serverInstanceId"], payload["resultId"])
        text = json.dumps(payload, sort_keys=True)
        kept = self._db.execute("SELECT payload FROM result WHERE instance = ? AND result = ?", where).fetchone()
        if kept:
            return ("already_stored", None) if kept[0] == text else ("protocol_error", "other_content")
        with self._db:
            self._db.execute("INSERT INTO result (instance, result, payload) VALUES (?, ?, ?)", (*where, text))
            for member in payload["correlation"]["inputs"]:
                self._db.execute("UPDATE ask SET answered = 1 WHERE key = ?", (member["idempotencyKey"],))
        return "stored", None

    def _mismatch(self, member, instance, agent):
        columns = "SELECT delivery, instance, agent, at FROM ask WHERE key = ?"
        ask = self._db.execute(columns, (member["idempotencyKey"],)).fetchone()
        if ask is None:
            return "unknown_key"
        if ask[0] is None:
            return "delivery_not_known_yet" if ask[3] > time.time() - RESEND_SECONDS else "unknown_key"
        if ask[0] != member["deliveryId"]:
            return "other_delivery"
        if ask[1] != instance:
            return "other_instance"
        return "other_agent" if ask[2] != agent else None

    def stored(self):
        return [json.loads(row[0]) for row in self._db.execute("SELECT payload FROM result ORDER BY place")]

    # Speech

    def speak_next(self, play):
        """Plays the oldest result that waits. It is marked as playing before a sound is made."""
        queued = "SELECT place, payload FROM result WHERE speech = 'queued' ORDER BY place LIMIT 1"
        row = self._db.execute(queued).fetchone()
        if row is None:
            return False
        with self._db:
            self._db.execute("UPDATE result SET speech = 'playing' WHERE place = ?", (row[0],))
        play(json.loads(row[1]))
        with self._db:
            self._db.execute("UPDATE result SET speech = 'spoken' WHERE place = ?", (row[0],))
        return True

    # Where to go on

    def resume_point(self):
        """Before all events where nothing was read yet: the server then sends the results it keeps."""
        row = self._db.execute("SELECT instance, cursor FROM resume_point").fetchone()
        return {"serverInstanceId": row[0], "cursor": row[1]} if row else {"serverInstanceId": "none", "cursor": 0}

    def go_on_behind(self, instance, cursor):
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO resume_point VALUES (1, ?, ?)", (instance, cursor))


def is_result(payload):
    """The payload is strict: no field more, members differ from each other in both fields, 32 KiB at most."""
    if not has_fields(payload, {"serverInstanceId", "resultId", "correlation", "outcome", "fullText"}):
        return False
    correlation = payload["correlation"]
    if not has_fields(correlation, {"scope", "inputs"}, {"engineTurnId"}) or not isinstance(correlation["inputs"], list):
        return False
    inputs = correlation["inputs"]
    texts = [payload["serverInstanceId"], payload["resultId"], payload["fullText"], correlation.get("engineTurnId", "-")]
    for member in inputs:
        if not has_fields(member, {"deliveryId", "idempotencyKey"}):
            return False
        texts += member.values()
    if not all(isinstance(text, str) and text for text in texts):
        return False
    least, most = {"input": (1, 1), "group": (2, 64)}.get(str(correlation["scope"]), (1, 0))
    serialised = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return (
        least <= len(inputs) <= most
        and all(len({member[field] for member in inputs}) == len(inputs) for field in ("deliveryId", "idempotencyKey"))
        and payload["outcome"] in ("completed", "failed", "cancelled")
        and len(serialised.encode("utf-8", "replace")) <= MAX_RESULT_BYTES
    )


def has_fields(value, needed, possible=frozenset()):
    return isinstance(value, dict) and needed <= value.keys() <= needed | possible
