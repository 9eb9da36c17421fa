#!/usr/bin/env python3
"""A voice device: sends texts to an agent, busy or not, and speaks each result once."""

import argparse
import collections
import json
import os
import pathlib
import random
import shlex
import socket
import sqlite3
import subprocess
import sys
import time
import uuid

from frames import connect_unix, connect_web
from inbox import Inbox

CAPABILITIES = ["input.status.v1", "turn.correlation.v2"]
ANSWER_SECONDS = 30
MAX_BACKLOG_FRAMES = 4_096
# A server keeps receipts and results for 30 minutes. Only well within that does "no receipt" mean
# that the request never arrived.
SEND_AGAIN_SECONDS = 5 * 60
RESULT_SECONDS = 30 * 60


class Refused(Exception):
    """The server refused a request; certainly nothing was done."""


def say(*words):
    line = " ".join(str(word) for word in words if word not in (None, ""))
    print("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in line), flush=True)


class Device:
    def __init__(self, inbox, connect, token, play):
        self.inbox, self.connect, self.token, self.play = inbox, connect, token, play
        self.shown = {}

    def open(self):
        """Hello, behind which what was missed comes; then what became of open keys."""
        self.wire, self.backlog, self.has_gap = self.connect(), collections.deque(), False
        resume = self.inbox.place()
        token = {"token": self.token} if self.token else {}
        hello = self.ask("hello", proto=1, capabilities=CAPABILITIES, resume=resume, **token)
        if "turn.correlation.v2" not in hello["capabilities"]:
            raise Refused("this server gives no results")
        self.machine, self.instance = hello["machineId"], hello["serverInstanceId"]
        self.resumed = hello["resumed"]
        self.cursor = resume["cursor"] if self.resumed else hello["cursor"]
        for key, machine, agent, text, added, delivery in self.inbox.open_keys(time.time() - RESULT_SECONDS):
            if delivery and self.resumed:
                continue
            receipt = self.ask("receipt.get", idempotencyKey=key)["receipt"]
            if receipt:
                self.take_receipt(receipt)
            elif not delivery and time.time() - added < SEND_AGAIN_SECONDS:
                self.send(key, machine, agent, text)

    def ask(self, operation, **fields):
        """Waits for the answer; all else that comes is kept for `take`, in its order."""
        while True:
            request = str(uuid.uuid4())
            self.wire.send({"type": operation, "requestId": request, **fields})
            until = time.monotonic() + ANSWER_SECONDS
            frame = {}
            while frame.get("requestId") != request:
                if time.monotonic() > until or len(self.backlog) > MAX_BACKLOG_FRAMES:
                    raise ConnectionError(f"no answer to {operation}")
                frame = self.wire.read(until - time.monotonic())
                if "requestId" not in frame:
                    self.backlog.append(frame)
            error = frame.get("error")
            if error is None:
                return frame
            if error["code"] == "INTERNAL":
                raise ConnectionError(f"{operation}: {error['message']}")
            if error["code"] not in ("RATE_LIMITED", "BACKPRESSURE"):
                raise Refused(f"{operation}: {error['code']} {error['message']}")
            time.sleep(1)

    def send(self, key, machine, agent, text):
        """The key is written before. Where the answer is lost, the same key is the same request."""
        fields = {"machineId": machine, "agentId": agent, "idempotencyKey": key, "text": text}
        self.take_receipt(self.ask("turn.send", **fields)["receipt"])

    def take_receipt(self, receipt):
        self.inbox.receipt(receipt)
        key, status, error = receipt["idempotencyKey"], receipt.get("input", {}), receipt["error"]
        parts = (receipt["state"], status.get("mode"), status.get("phase"), status.get("hold"))
        if self.shown.get(key) != parts:
            say("receipt:", key[:8], *parts, error and error["code"])
        self.shown[key] = parts

    def take(self, frame):
        if frame.get("type") == "resync":
            self.resumed, self.cursor = False, frame["cursor"]
        if frame.get("type") != "event":
            return
        is_new = frame["eventId"] > self.cursor
        # Behind a resync kept results come again under their old ids; the place never goes back.
        if not is_new and (self.resumed or frame["kind"] != "turn.result"):
            return
        if frame["kind"] == "receipt.updated":
            self.take_receipt(frame["payload"]["receipt"])
        if frame["kind"] == "turn.result":
            effect, reason = self.inbox.result(frame)
            say("result:", effect, reason)
            self.has_gap = self.has_gap or effect == "waiting"
            self.inbox.speak(self.play)
        if is_new:
            self.cursor = frame["eventId"]
            if not self.has_gap:
                self.inbox.move(self.instance, self.cursor)

    def listen(self, is_done):
        while not is_done():
            try:
                self.take(self.backlog.popleft() if self.backlog else self.wire.read(0.5))
            except socket.timeout:
                continue


def player(command):
    """Without a command a result is printed. A command gets the text on its standard input."""

    def play(result):
        if not command:
            say("speak:", result["fullText"])
            return "spoken"
        try:
            process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE)
        except OSError as failure:
            say("not spoken yet:", failure)
            return "queued"
        process.communicate(result["fullText"].encode("utf-8", "replace"))
        return "spoken" if process.returncode == 0 else "uncertain"

    return play


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="The token: OSTLER_TOKEN.")
    parser.add_argument("texts", nargs="*")
    parser.add_argument("--state-dir", help="the daemon on this machine, by its Unix socket")
    parser.add_argument("--url", help="a daemon's WebSocket, ws:// or wss://")
    parser.add_argument("--inbox", default="inbox.sqlite", help="this device's own file")
    parser.add_argument("--agent", help="its name; the first one where left out")
    parser.add_argument("--say", help="a command that speaks its standard input")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--check-fixtures", metavar="DIR")
    args = parser.parse_args()
    if args.check_fixtures:
        from check_fixtures import check
        return check(pathlib.Path(args.check_fixtures))
    token = os.environ.get("OSTLER_TOKEN", "")
    if bool(args.state_dir) == bool(args.url) or (args.url and not token):
        parser.error("give --state-dir, or --url and OSTLER_TOKEN")
    connect = (lambda: connect_web(args.url, token)) if args.url else (lambda: connect_unix(args.state_dir))
    try:
        inbox = Inbox(args.inbox)
    except sqlite3.Error as failure:
        parser.error(f"{args.inbox}: {failure}; does another process use it?")
    return run(Device(inbox, connect, token, player(args.say)), args)


def run(device, args):
    inbox, until, delay, texts = device.inbox, time.monotonic() + args.seconds, 0.1, args.texts
    waiting = lambda: inbox.open_keys(time.time() - RESULT_SECONDS)
    inbox.speak(device.play)
    while (texts or waiting()) and time.monotonic() < until:
        try:
            device.open()
            delay = 0.1
            if texts:
                agents = device.ask("agents.list")["agents"]
                chosen = next((a for a in agents if args.agent in (None, a["name"])), None)
                if chosen is None:
                    raise Refused("no such agent")
                todo, texts = [(str(uuid.uuid4()), device.machine, chosen["agentId"], text) for text in texts], []
                # All keys first: where the connection is lost in between, the next one goes on.
                for request in todo:
                    inbox.expect(*request)
                for request in todo:
                    device.send(*request)
            device.listen(lambda: not waiting() or time.monotonic() > until)
        except (Refused, PermissionError) as failure:
            say("refused:", failure)
            return 1
        except (OSError, ValueError) as failure:
            say("lost:", failure, "- connecting again")
            time.sleep(delay * random.uniform(0.5, 1))
            delay = min(10, delay * 2)
        finally:
            if hasattr(device, "wire"):
                device.wire.close()
    for key, *_ in waiting():
        say("no answer yet:", key[:8])
    for _, result in inbox.results("uncertain"):
        say("perhaps spoken:", result["fullText"])
    return 1 if texts or waiting() else 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
