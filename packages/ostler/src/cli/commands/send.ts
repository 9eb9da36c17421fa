import { closeSync, openSync, readSync } from 'node:fs';
import { isatty } from 'node:tty';
import { maxTextBytes } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import type { Command } from 'commander';
import { findAgent, targetOf } from '../find-agent.js';
import { type MutationFlags, mutate, withMutationOptions } from '../mutation-options.js';
import { examples } from '../option-values.js';
import { withDaemon } from '../with-daemon.js';

interface SendFlags extends MutationFlags {
  readonly file?: string;
}

const stdinHandle = 0;

export function addSend(ostler: Command): void {
  withMutationOptions(
    ostler
      .command('send')
      .description('put a message into a running agent, and print its receipt')
      .argument('<name>', "the agent's name or id")
      .argument('[text]', 'the message; - or nothing: from stdin')
      .option(
        '--file <path>',
        'the message, from a file of UTF-8; one line break at its end is left out, as from stdin',
      ),
  )
    .addHelpText(
      'after',
      examples(
        "ostler send work 'Now run the tests.' --wait accepted",
        'ostler send work --file task.md --key issue-42 --wait settled --timeout 600',
        'git diff | ostler send work - --json',
      ),
    )
    .action((name: string, text: string | undefined, flags: SendFlags) => send(name, text, flags));
}

async function send(name: string, given: string | undefined, flags: SendFlags): Promise<void> {
  const text = await textOf(given, flags.file);
  await withDaemon(flags, async (run) => {
    const agent = await findAgent(run.client, name);
    await mutate(run, flags, (idempotencyKey) =>
      run.client.call('turn.send', { ...targetOf(agent), idempotencyKey, text }),
    );
  });
}

async function textOf(given: string | undefined, file: string | undefined): Promise<string> {
  if (file !== undefined) {
    if (given !== undefined) throw new CodedError('USAGE', 'give TEXT or --file, not both');
    return decoded(readStart(file), file);
  }
  if (given !== undefined && given !== '-') return given;
  if (given === undefined && isatty(stdinHandle)) {
    throw new CodedError('USAGE', 'give TEXT, --file PATH, or - to type it here until Ctrl-D');
  }
  return decoded(await readStdin(), 'stdin');
}

/** At most a little more than a message may have is read. */
async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let lengthBytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    lengthBytes += (chunk as Buffer).length;
    if (lengthBytes > maxTextBytes + 1) break;
  }
  return Buffer.concat(chunks);
}

function readStart(path: string): Buffer {
  const handle = openFile(path);
  try {
    const buffer = Buffer.alloc(maxTextBytes + 2);
    let filled = 0;
    for (let got = -1; got !== 0 && filled < buffer.length; filled += got) {
      got = readSync(handle, buffer, filled, buffer.length - filled, null);
    }
    return buffer.subarray(0, filled);
  } catch (cause) {
    throw new CodedError('USAGE', `${path} can't be read`, { cause });
  } finally {
    closeSync(handle);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    throw new CodedError('USAGE', `${path} can't be read`, { cause });
  }
}

function decoded(bytes: Buffer, from: string): string {
  if (bytes.length > maxTextBytes + 1) {
    throw new CodedError('PAYLOAD_TOO_LARGE', `${from} has more than ${maxTextBytes} bytes`);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.endsWith('\n') ? text.slice(0, -1) : text;
  } catch (cause) {
    throw new CodedError('USAGE', `${from} is not UTF-8`, { cause });
  }
}
