"""The register of cases, and what a case may use."""

import base64
import json
import os
import signal
import subprocess
import time
import uuid

from wire import Client, PATIENCE_SECONDS, WebSocket, code_of

CASES = []


def case(case_id, name, **options):
    """Registers a case. `quotas=True`: with the limits a connection has by default.
    `own=True`: with a daemon of its own. `differs="…"`: the daemon is known to do that instead."""

    def register(run):
        CASES.append((case_id, name, run, options))
        return run

    return register


class Failed(Exception):
    """A case found something else than the contract says."""


class NotHere(Exception):
    """This system has no means to run the case."""


def expect(holds, what, *seen):
    if not holds:
        raise Failed(f"{what}; seen: {' '.join(json.dumps(each) for each in seen)}")


def expect_code(frame, code):
    expect(code_of(frame) == code, f"{code} is the answer", frame)


def expect_fine(frame):
    expect("error" not in frame, "the request is taken", frame)


class Server:
    """A daemon of its own in a directory of its own."""

    def __init__(self, command, state_dir, flags):
        self.command = command
        self.state_dir = state_dir
        self.flags = flags
        self.process = None
        self.ready = None

    def start(self, listen="127.0.0.1:0"):
        arguments = ["up", "--state-dir", self.state_dir, "--listen", listen, "--json"]
        self.process = subprocess.Popen(
            [*self.command, *arguments, *self.flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        line = self.process.stdout.readline()
        if line == "":
            raise Failed("the daemon said no ready line")
        self.ready = json.loads(line)
        return self

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)


def told(client, wanted, seconds=PATIENCE_SECONDS):
    """The first receipt told by `receipt.updated` that `wanted` takes."""

    def takes(frame):
        return frame.get("kind") == "receipt.updated" and wanted(frame["payload"]["receipt"])

    return client.wait(takes, seconds)["payload"]["receipt"]


class World:
    """What a case works with; everything it opens is closed behind it."""

    def __init__(self, server, agent):
        self.server = server
        # False where only some of the cases run.
        self.complete = True
        self._agent = agent
        self._clients = []
        self._launched = []
        self._machine = None

    @property
    def machine(self):
        if self._machine is None:
            self._machine = self.local().call("agents.list")["machineId"]
        return self._machine

    def raw(self):
        return self._keep(Client.unix(self.server.ready["socket"]))

    def local(self, **fields):
        client = self.raw()
        expect_fine(client.hello(**fields))
        return client

    def web(self, headers=None, tls=None):
        client, status = WebSocket.open(self.server.ready["listen"], headers, tls)
        if client:
            self._keep(client)
        return client, status

    def device(self, name):
        """A new device: its id and its token."""
        added = self.local().call("device.add", name=f"{name}-{uuid.uuid4().hex[:6]}")
        expect_fine(added)
        return added["deviceId"], added["token"]

    def launch(self, script=None, **change):
        """A simulated agent whose composer is up: its target fields."""
        target = self.launch_holding(script, **change)
        self.until_ready(target)
        return target

    def launch_holding(self, script=None, **change):
        """A simulated agent, whatever it shows: its target fields."""
        client = self.local()
        agent = {**json.loads(json.dumps(self._agent)), **change}
        if script is not None:
            agent["args"] = [*agent["args"][:1], "--script-json", json.dumps(script)]
        launched = client.call(
            "agent.launch", name=f"agent-{uuid.uuid4().hex[:8]}", cleanEnv=True, **agent
        )
        expect_fine(launched)
        target = {"machineId": launched["machineId"], "agentId": launched["agentId"]}
        self._launched.append(target)
        return target

    def launch_told(self, truth, script=None):
        """A simulated agent that writes down in the file `truth` what really happened to it."""
        agent = json.loads(json.dumps(self._agent))
        args = [*agent["args"][:1], "--truth", truth]
        if script is not None:
            args += ["--script-json", json.dumps(script)]
        target = self.launch_holding(args=args)
        self.until_ready(target)
        return target

    def submitted(self, truth):
        """The texts an agent of `launch_told` was given, as often as it was given them."""
        with open(truth, encoding="utf-8") as file:
            entries = [json.loads(line) for line in file]
        return [entry["text"] for entry in entries if entry["event"] == "submitted"]

    def another_server(self):
        """One more daemon for the same directory; not started yet."""
        return Server(self.server.command, self.server.state_dir, self.server.flags)

    def keys(self, client, target):
        """What a person at the agent's terminal presses, as a function of the bytes."""
        view = client.call("agent.attach", **target)
        expect_fine(view)

        def press(data):
            fields = {"attachId": view["attachId"], "data": base64.b64encode(data).decode()}
            expect_fine(client.call("agent.input", **fields))

        return press

    def draft(self, client, target, text="a draft"):
        """A person's unsent text in the composer, once it shows there; returns the person's keys."""
        press = self.keys(client, target)
        press(text.encode())
        for _ in range(600):
            composer = client.call("agent.screen", **target)["reading"]["composer"]
            if composer is not None and text in json.dumps(composer):
                return press
            time.sleep(0.02)
        raise Failed("the draft does not show")

    def until_ready(self, target):
        client = self.local()
        for _ in range(600):
            screen = client.call("agent.screen", **target)
            if screen["reading"]["composer"] is not None:
                return
            time.sleep(0.02)
        raise Failed("the agent does not come up")

    def until_busy(self, target):
        """The record may tell of a turn before the screen shows it, and only a shown one can be stopped."""
        client = self.local()
        for _ in range(600):
            if client.call("status", **target)["state"] == "busy":
                return
            time.sleep(0.02)
        raise Failed("the agent does not show that it works")

    def settled(self, client, key, until="accepted"):
        waited = client.call("receipt.wait", idempotencyKey=key, until=until, timeoutMs=15000)
        expect_fine(waited)
        return waited["receipt"]

    def close(self):
        for client in self._clients:
            client.close()
        if not self._launched:
            return
        # A case that failed may have left its daemon down, and agents outlive it.
        revived = self.server.process.poll() is not None
        if revived:
            try:
                self.server.start()
            except Failed:
                return
        client = Client.unix(self.server.ready["socket"])
        client.hello()
        for target in self._launched:
            client.call("agent.close", **target)
        client.close()
        if revived:
            self.server.stop()

    def _keep(self, client):
        self._clients.append(client)
        return client


def key():
    return f"k-{uuid.uuid4().hex[:20]}"
