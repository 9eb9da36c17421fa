"""A device that speaks: sends what was said, shows receipts, speaks each answer once.

    python3 voice_device ADDRESS --outbox FILE --agent NAME "First request" "Second request"
    python3 voice_device ADDRESS --outbox FILE          (goes on with what the outbox holds)
    python3 voice_device --check-fixtures fixtures/turn-correlation-v2

ADDRESS is the path of the daemon's socket, ws://host:port or wss://host:port. A WebSocket needs the device's token, in
the file --token-file or in OSTLER_DEVICE_TOKEN. Python 3 and its standard library only.

Ends with 0 when everything is answered, 3 when something is in doubt or was not taken, 4 when the daemon can't be
reached, 2 when it refuses, 1 when the outbox is in use or another device's. What is open stays in the outbox: the same command without requests goes on with it.
"""

import argparse
import hashlib
import os
import shlex
import signal
import sys
import uuid
from pathlib import Path

from device import Device
from fixtures import check
from outbox import Outbox
from speaker import Speaker
from stream import Lost, Refused


def tell(words):
    """For the person at the device."""
    print(f"tells: {words}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", nargs="?")
    parser.add_argument("requests", nargs="*")
    parser.add_argument("--agent", default="one", help="the agent's name (one)")
    parser.add_argument("--outbox", default="voice-device.db", help="the device's store (voice-device.db)")
    parser.add_argument("--utterance", nargs=2, action="append", default=[], metavar=("ID", "TEXT"),
                        help="a request that is the same one whenever its id is; repeatable")
    parser.add_argument("--token-file", type=Path, help="the device's token; else OSTLER_DEVICE_TOKEN")
    parser.add_argument("--ca", help="PEM file of the certificate to trust, for wss://")
    parser.add_argument("--speak", type=shlex.split, help="a program that says what comes on its stdin")
    parser.add_argument("--reply-seconds", type=float, default=20, help="how long an answer may take (20)")
    parser.add_argument("--watch-seconds", type=float, default=600, help="how long doubts are watched (600)")
    parser.add_argument("--give-up-seconds", type=float, default=600, help="how long to try to connect (600)")
    parser.add_argument("--check-fixtures", type=Path, metavar="FOLDER")
    given = parser.parse_intermixed_args()
    if given.address is None and given.check_fixtures is None:
        parser.error("give the daemon's address")
    return given


def run(given):
    token = given.token_file.read_text().strip() if given.token_file else os.environ.get("OSTLER_DEVICE_TOKEN")
    try:
        outbox = Outbox(given.outbox)
    except BlockingIOError:
        sys.exit(f"another process works with {given.outbox}")
    # Keys are a device's own: under another identity they would be new ones.
    identity = "local" if token is None else hashlib.sha256(token.encode()).hexdigest()[:16]
    if outbox.fact("identity") not in (None, identity):
        sys.exit(f"{given.outbox} belongs to another device; take a new file")
    outbox.set_fact("identity", identity)
    # On the disk, keys included, before anything is asked of anybody.
    for utterance, text in [*given.utterance, *((str(uuid.uuid4()), text) for text in given.requests)]:
        outbox.utter(utterance, text, given.agent)
    speaker = Speaker(outbox, tell, given.speak)
    limits = {"reply": given.reply_seconds, "watch": given.watch_seconds, "give_up": given.give_up_seconds}
    device = Device(outbox, speaker, tell, (given.address, token, given.ca), limits)
    before = outbox.untaken()
    try:
        done = device.run()
    except Lost as lost:
        tell(f"the daemon can't be reached: {lost}")
        return 4
    except Refused as refused:
        tell(str(refused))
        return 2
    finally:
        speaker.stop()
    return 0 if done and outbox.untaken() == before else 3


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = arguments()
    if options.check_fixtures is not None:
        check(options.check_fixtures)
    else:
        sys.exit(run(options))
