"""Runs recorded streams of `turn.correlation.v2` through the inbox; fixtures/turn-correlation-v2/README.md describes them."""

import json
from pathlib import Path

from result_inbox import ResultInbox


def check_fixtures(directory):
    """True where every stream did what it must do, and there was one."""
    failed = 0
    streams = sorted(Path(directory).glob("*.jsonl"))
    for stream in streams:
        expected = json.loads(stream.with_suffix(".expected.json").read_text())
        seen = consume(stream)
        differing = [name for name in seen if seen[name] != expected[name]]
        failed += bool(differing)
        print(f"{'FAIL' if differing else 'ok  '} {stream.stem}")
        for name in differing:
            print(f"     {name}: {json.dumps(seen[name])}\n     expected: {json.dumps(expected[name])}")
    print(f"{len(streams)} streams, {len(streams) - failed} passed, {failed} failed")
    return failed == 0 and streams != []


def consume(stream):
    inbox = ResultInbox(":memory:")
    effects, spoken = [], []
    for number, line in enumerate(stream.read_text().splitlines(), 1):
        frame = json.loads(line)["frame"]
        if frame["type"] == "turn.send":
            inbox.own(frame["idempotencyKey"], frame["machineId"], frame["agentId"], frame["text"])
        if frame["type"] == "turn.send_result" and "receipt" in frame:
            inbox.delivered(frame["receipt"])
        if frame["type"] == "event" and frame["kind"] == "turn.result":
            effect, reason = inbox.take(frame)
            effects.append({"line": number, "effect": effect, **({"reason": reason} if reason else {})})
            while inbox.speak_next(lambda result: spoken.append(result)):
                pass
    return {
        "effects": effects,
        "stored": [
            {
                **{field: result[field] for field in ("serverInstanceId", "resultId", "outcome")},
                "idempotencyKeys": [member["idempotencyKey"] for member in result["correlation"]["inputs"]],
            }
            for result in inbox.stored()
        ],
        "utterances": [{field: result[field] for field in ("resultId", "fullText")} for result in spoken],
        "unanswered": inbox.unanswered(),
    }
