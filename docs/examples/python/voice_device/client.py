"""One connection to the daemon: requests and their answers, and the events in between."""

import json
import time
import uuid
from collections import deque

from stream import Lost, Refused
from transport import connect

CAPABILITIES = ["input.status.v1", "turn.correlation.v2"]
REPLY_SECONDS = 20
# Twenty requests at once, then one a second: who asks too fast waits a moment.
PAUSE_SECONDS = 1.1
MAX_PAUSES = 60
MAX_EVENTS = 10_000
# Nothing that the same device does again makes these right.
HOPELESS = ("UNAUTHENTICATED", "REVOKED", "PROTO_UNSUPPORTED")
SLOW_DOWN = ("RATE_LIMITED", "BACKPRESSURE")


class Denied(Exception):
    """The request was answered, with an error: nothing came of it, unless the code is INTERNAL."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Client:
    def __init__(self, address, token=None, ca_file=None, reply_seconds=REPLY_SECONDS):
        self._transport = connect(address, token, ca_file)
        self._token = token
        self._reply_seconds = reply_seconds
        self._events = deque()

    def hello(self, resume=None):
        """Says who we are and what we have seen; what came since is behind the answer."""
        fields = {"proto": 1, "capabilities": CAPABILITIES}
        if self._token is not None:
            fields["token"] = self._token
        if resume is not None:
            fields["resume"] = resume
        return self.call("hello", **fields)

    def call(self, operation, **fields):
        """The answer. Without one in time the connection is given up: `Lost`, and nothing is known."""
        request_id = str(uuid.uuid4())
        self._transport.send(json.dumps({"type": operation, "requestId": request_id, **fields}))
        until = time.monotonic() + self._reply_seconds
        while True:
            frame = self._read(until - time.monotonic())
            if frame is None:
                raise Lost(f"{operation} was not answered within {self._reply_seconds} seconds")
            if frame.get("requestId") == request_id:
                break
            if frame.get("type") == "error":
                # It names no request: the stream can't be followed any further.
                raise Lost(f"the server said {frame.get('error')}")
            if len(self._events) >= MAX_EVENTS:
                raise Lost("events come faster than they are handled")
            self._events.append(frame)
        error = frame.get("error")
        if error is None:
            return frame
        if error["code"] in HOPELESS:
            raise Refused(f"{error['code']}: {error['message']}")
        raise Denied(error["code"], error["message"])

    def ask(self, operation, **fields):
        """A request that changes nothing: asked again for as long as it is asked too fast."""
        for _ in range(MAX_PAUSES):
            try:
                return self.call(operation, **fields)
            except Denied as denied:
                if denied.code not in SLOW_DOWN:
                    raise
            time.sleep(PAUSE_SECONDS)
        raise Lost(f"{operation} was put off for too long")

    def next_event(self, seconds):
        """The next frame that answers nothing, or None where none came in that time."""
        return self._events.popleft() if self._events else self._read(seconds)

    def close(self):
        self._transport.close()

    def _read(self, seconds):
        text = self._transport.receive(max(0, seconds))
        if text is None:
            return None
        try:
            frame = json.loads(text)
        except ValueError as failure:
            raise Lost("the server sent what is no JSON") from failure
        if not isinstance(frame, dict):
            raise Lost("the server sent what is no frame")
        return frame
