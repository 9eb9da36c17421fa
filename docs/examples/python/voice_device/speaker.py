"""Says each answer once. What may have been said already is never said again by itself."""

import subprocess
import time

PLAYBACK_SECONDS = 180


class Speaker:
    """`command` gets the text on its stdin and ends with 0 once it was heard; without one it is printed."""

    def __init__(self, outbox, tell, command=None):
        self._outbox = outbox
        self._tell = tell
        self._command = command
        self._playing = None
        # Begun by a process that is gone: it may have been heard, wholly, in part or not at all.
        for name, payload in outbox.spoken("begun"):
            self._doubt(name, payload, "the device was cut off while it spoke")

    @property
    def busy(self):
        return self._playing is not None or self._outbox.spoken("waiting") != []

    def step(self):
        """Looks after what plays, or begins the next answer. Never waits."""
        if self._playing is not None:
            self._look()
        while self._playing is None:
            waiting = self._outbox.spoken("waiting")
            if not waiting:
                return
            name, payload = waiting[0]
            # On the disk before the first sound.
            if self._outbox.move(name, "waiting", "begun"):
                self._begin(name, payload)

    def stop(self):
        """The device ends: what plays is cut off, and may have been heard."""
        if self._playing is not None:
            process, name, payload, _ = self._playing
            process.kill()
            process.wait()
            self._doubt(name, payload, "the device was stopped while it spoke")

    def _begin(self, name, payload):
        words = spoken_words(payload)
        if self._command is None:
            print(f"says: {words}", flush=True)
            self._outbox.move(name, "begun", "done")
            return
        try:
            process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        except OSError as failure:
            # Nothing was started, so nothing was heard: it is printed instead, once.
            print(f"says: {words}", flush=True)
            self._outbox.move(name, "begun", "done")
            self._tell(f"the speaking program can't be started ({failure}); the answer is printed")
            return
        self._playing = (process, name, payload, time.monotonic() + PLAYBACK_SECONDS)
        try:
            process.stdin.write(words.encode())
            process.stdin.close()
        except OSError:
            self._tell("the speaking program did not take the whole answer")

    def _look(self):
        process, name, payload, until = self._playing
        ended = process.poll()
        if ended is None and time.monotonic() < until:
            return
        self._playing = None
        if ended == 0:
            self._outbox.move(name, "begun", "done")
            return
        if ended is None:
            process.kill()
            process.wait()
        self._doubt(name, payload, "the speaking program did not end well")

    def _doubt(self, name, payload, why):
        if self._outbox.move(name, "begun", "uncertain"):
            self._tell(f"{why}; this answer may not have been heard: {payload['fullText']}")


def spoken_words(payload):
    """The answer; one that completed nothing is not passed off as one that did."""
    beginning = {"failed": "This failed. ", "cancelled": "This was stopped. "}.get(payload["outcome"], "")
    return beginning + payload["fullText"]
