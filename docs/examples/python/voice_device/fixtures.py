"""Runs the streams of fixtures/turn-correlation-v2 through the outbox and the speaker."""

import contextlib
import io
import json
import sys

from outbox import Outbox
from speaker import Speaker


def check(folder):
    """Every stream has exactly the effects that stand beside it."""
    for path in sorted(folder.glob("*.jsonl")):
        expected = json.loads(path.with_suffix("").with_suffix(".expected.json").read_text())
        outbox, effects, spoken = Outbox(":memory:"), [], []
        speaker = Speaker(outbox, lambda words: None)
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            frame = json.loads(line)["frame"]
            if frame["type"] == "turn.send_result" and "receipt" in frame:
                outbox.adopt(frame["receipt"])
            if frame.get("kind") == "turn.result":
                effect, reason = outbox.take(frame)
                effects.append({"line": number, "effect": effect, **({"reason": reason} if reason else {})})
            for _, payload in outbox.spoken("waiting"):
                spoken.append({"resultId": payload["resultId"], "fullText": payload["fullText"]})
            with contextlib.redirect_stdout(io.StringIO()):
                speaker.step()
        wanted = [{k: v for k, v in each.items() if k in ("line", "effect", "reason")} for each in expected["effects"]]
        stored = [{k: each[k] for k in ("serverInstanceId", "resultId")} for each in outbox.payloads()]
        wanted_stored = [{k: each[k] for k in ("serverInstanceId", "resultId")} for each in expected["stored"]]
        for what, seen, asked in (
            ("effects", effects, wanted),
            ("stored", stored, wanted_stored),
            ("utterances", spoken, expected["utterances"]),
        ):
            if seen != asked:
                sys.exit(f"{path.name}: {what} are {seen}, not {asked}")
        print(f"{path.stem}: as expected")
