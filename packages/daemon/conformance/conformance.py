"""Holds a daemon against the wire contract. The last line counts the cases.

python3 conformance.py --command '["node","…/main.js"]' --agent '{…}' --work DIR --flags '[…]' [--filter W] [--list] [--json]
"""

import argparse
import json
import os
import socket
import sys
import time
import traceback

from cases import CASES, Failed, NotHere, Server, World
from wire import Ended
import cases_connection  # noqa: F401
import cases_operations  # noqa: F401
import cases_order  # noqa: F401
import cases_devices  # noqa: F401
import cases_life  # noqa: F401
import cases_faults  # noqa: F401
import cases_results  # noqa: F401
import cases_codes  # noqa: F401
import cases_transport  # noqa: F401
import cases_exact  # noqa: F401
import cases_capacity  # noqa: F401

GENEROUS = ["--rate-burst", "100000", "--rate-per-second", "100000", "--max-in-flight", "64"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True, type=json.loads)
    parser.add_argument("--agent", required=True, type=json.loads)
    parser.add_argument("--flags", default=[], type=json.loads)
    parser.add_argument("--work", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chosen = [each for each in CASES if options.filter in f"{each[0]} {each[1]}"]
    if options.list:
        for case_id, name, _, _ in chosen:
            print(f"{case_id}  {name}")
        return 0
    servers = {}
    outcomes = []
    try:
        for case_id, name, run, needs in chosen:
            if "differs" in needs:
                outcomes.append(skipped(options, case_id, name, needs["differs"]))
                continue
            outcomes.append(one(options, servers, case_id, name, run, needs))
    finally:
        for server in servers.values():
            server.stop()
    failed = sum(outcome["result"] == "failed" for outcome in outcomes)
    left_out = sum(outcome["result"] == "skipped" for outcome in outcomes)
    passed = len(outcomes) - failed - left_out
    if options.json:
        print(json.dumps({"cases": outcomes}))
    print(f"{len(outcomes)} cases, {passed} passed, {failed} failed, {left_out} skipped")
    return 1 if failed else 0


def skipped(options, case_id, name, why):
    """A case where the daemon is known to differ from the contract: shown, and not run."""
    if not options.json:
        print(f"{paint('skip', 33)} {case_id}  {name}\n     {why}")
    return {"id": case_id, "name": name, "result": "skipped", "why": why, "ms": 0}


def one(options, servers, case_id, name, run, needs):
    kind = "own" if needs.get("own") else "quotas" if needs.get("quotas") else "shared"
    if kind == "own" or kind not in servers:
        flags = options.flags if kind == "quotas" else [*options.flags, *GENEROUS]
        where = os.path.join(options.work, f"{kind}-{case_id}")
        server = Server(options.command, where, flags).start()
        if kind == "own" and kind in servers:
            servers[kind].stop()
        servers[kind] = server
    world = World(servers[kind], options.agent)
    world.complete = options.filter == ""
    began = time.monotonic()
    why = None
    try:
        run(world)
    except NotHere as reason:
        return skipped(options, case_id, name, str(reason))
    except (Failed, Ended, socket.timeout, OSError, KeyError, TypeError) as failure:
        why = f"{type(failure).__name__}: {failure}"
        if not isinstance(failure, Failed):
            why += "\n" + "".join(traceback.format_tb(failure.__traceback__)[-2:]).rstrip()
    finally:
        world.close()
    took = (time.monotonic() - began) * 1000
    if not options.json:
        print(f"{paint('ok  ', 32) if why is None else paint('FAIL', 31)} {case_id}  {name}  {took:.0f} ms")
        if why is not None:
            print("     " + why.replace("\n", "\n     "))
        sys.stdout.flush()
    result = "passed" if why is None else "failed"
    return {"id": case_id, "name": name, "result": result, "why": why, "ms": round(took)}


def paint(text, colour):
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    return text if plain else f"\033[{colour}m{text}\033[0m"


if __name__ == "__main__":
    sys.exit(main())
