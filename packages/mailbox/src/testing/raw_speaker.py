"""The other program's part, spoken in plain SQL: a connection for each step, write locks taken first."""
import json
import os
import sqlite3
import sys
import time
import uuid
from contextlib import contextmanager

PATH = sys.argv[2]


@contextmanager
def transaction():
    connection = sqlite3.connect(PATH, timeout=60, isolation_level=None)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()


def rows(sql, *values):
    connection = sqlite3.connect(PATH, timeout=60)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def insert(db, sender, recipient, in_reply_to, body):
    db.execute(
        "INSERT INTO messages (id, sender, recipient, in_reply_to, body, created_at, submission)"
        " VALUES (?, ?, ?, ?, ?, ?, 'not_submitted')",
        (str(uuid.uuid4()), sender, recipient, in_reply_to, body, time.time()),
    )


def claim(message_id):
    with transaction() as db:
        changed = db.execute(
            "UPDATE messages SET submission = 'submission_unknown', notification_started_at = ?"
            " WHERE id = ? AND notification_started_at IS NULL",
            (time.time(), message_id),
        ).rowcount
    if not changed:
        return
    with open(os.environ["NOTIFIED"], "a") as log:
        log.write(message_id + "\n")
    with transaction() as db:
        db.execute(
            "UPDATE messages SET submission = 'submitted', notification_detail = 'raw',"
            " notification_finished_at = ? WHERE id = ?",
            (time.time(), message_id),
        )


def inbox(me):
    return rows(
        "SELECT id, in_reply_to, body, sender FROM messages AS m WHERE recipient = ? AND"
        " ((in_reply_to IS NULL AND NOT EXISTS (SELECT 1 FROM messages r WHERE r.in_reply_to = m.id))"
        "  OR (in_reply_to IS NOT NULL AND ack_at IS NULL)) ORDER BY seq",
        me,
    )


def exchange(me, other, count):
    asked = answered = acknowledged = 0
    while asked < count or answered < count or acknowledged < count:
        if asked < count:
            with transaction() as db:
                insert(db, me, other, None, f"{me} asks {asked}")
            asked += 1
        for message_id, in_reply_to, body, sender in inbox(me)[:8]:
            with transaction() as db:
                if in_reply_to is None:
                    insert(db, me, sender, message_id, f"{me} answers: {body}")
                    answered += 1
                else:
                    db.execute(
                        "UPDATE messages SET ack_at = coalesce(ack_at, ?) WHERE id = ?",
                        (time.time(), message_id),
                    )
                    acknowledged += 1
    print(json.dumps({"asked": asked, "answered": answered, "acknowledged": acknowledged}))


if sys.argv[1] == "exchange":
    exchange(sys.argv[3], sys.argv[4], int(sys.argv[5]))
elif sys.argv[1] == "claim":
    print(json.dumps("ready"), flush=True)
    sys.stdin.readline()
    for (found,) in rows("SELECT id FROM messages ORDER BY seq"):
        claim(found)
    print(json.dumps({"done": True}))
elif sys.argv[1] == "inbox":
    print(json.dumps([row[0] for row in inbox(sys.argv[3])]))
elif sys.argv[1] == "make":
    connection = sqlite3.connect(PATH)
    connection.executescript(sys.stdin.read())
    connection.close()
