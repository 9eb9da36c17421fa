"""What a `turn.result` payload must be: turn-result.schema.json, and what a schema can't say."""

import json
import re

FIELDS = {"serverInstanceId", "resultId", "correlation", "outcome", "fullText"}
OUTCOMES = ("completed", "failed", "cancelled")
MAX_RESULT_BYTES = 32 * 1024
MEMBERS = {"input": range(1, 2), "group": range(2, 65)}
KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_result(payload):
    if not isinstance(payload, dict) or set(payload) != FIELDS:
        return False
    correlation = payload["correlation"]
    if not isinstance(correlation, dict) or set(correlation) - {"engineTurnId"} != {"scope", "inputs"}:
        return False
    inputs, scope = correlation["inputs"], correlation["scope"]
    if not isinstance(inputs, list) or not all(_is_member(each) for each in inputs):
        return False
    count = MEMBERS.get(scope, ()) if isinstance(scope, str) else ()
    differ = all(len({each[field] for each in inputs}) == len(inputs) for field in ("deliveryId", "idempotencyKey"))
    named = all(_is_text(payload[field]) for field in ("serverInstanceId", "resultId", "fullText"))
    turn = "engineTurnId" not in correlation or _is_text(correlation["engineTurnId"])
    size = len(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    fits = size <= MAX_RESULT_BYTES
    return len(inputs) in count and differ and named and turn and payload["outcome"] in OUTCOMES and fits


def _is_member(value):
    return (
        isinstance(value, dict)
        and set(value) == {"deliveryId", "idempotencyKey"}
        and _is_text(value["deliveryId"])
        and isinstance(value["idempotencyKey"], str)
        and KEY.fullmatch(value["idempotencyKey"]) is not None
    )


def _is_text(value):
    return isinstance(value, str) and value != ""
