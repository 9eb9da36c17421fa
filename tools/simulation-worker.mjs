import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { node } from './child.mjs';

/** Runs one task of the simulation in a process of its own; rejects where that ends without an answer. */
export async function runWorker(file, task, onDone = () => undefined) {
  const child = spawn(node, [file, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let answer = null;
  for await (const line of createInterface({ input: child.stdout })) {
    const message = JSON.parse(line);
    if (message.done !== undefined) onDone(message.done);
    answer = message.answer ?? answer;
  }
  const code = await ended;
  if (!answer) throw new Error(`a worker of the simulation ended with ${code}`);
  return answer;
}
