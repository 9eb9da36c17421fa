// Progress goes to stderr, so that what a command prints on stdout is its own alone.

const heartbeatMs = 5_000;
const terminalHeartbeatMs = 1_000;
const clearLine = '\r\u001b[K';

export function say(text) {
  process.stderr.write(`ostler: ${text}\n`);
}

export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

/**
 * Runs `work` and says that it still runs and for how long: on a terminal in one line renewed every second,
 * elsewhere in a line every five seconds. `describe` is asked anew each time. Something that ends sooner says nothing.
 */
export async function withHeartbeat(describe, work) {
  const inOneLine = process.stderr.isTTY === true;
  const startedMs = performance.now();
  let spoke = false;
  const beat = () => {
    const text = `${describe()} (${Math.round((performance.now() - startedMs) / 1000)} s so far)`;
    spoke = true;
    if (inOneLine) process.stderr.write(`${clearLine}ostler: ${text}`);
    else say(text);
  };
  const timer = setInterval(beat, inOneLine ? terminalHeartbeatMs : heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (inOneLine && spoke) process.stderr.write(clearLine);
  }
}
