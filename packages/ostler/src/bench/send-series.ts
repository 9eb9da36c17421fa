import { pasteEnd, pasteStart } from '@ostler/terminal';
import type { BenchRig } from './rig.js';
import { beginningOf, type TextKind, textKinds, textOf } from './texts.js';

export interface SentText {
  readonly key: string;
  readonly kind: TextKind;
  readonly text: string;
}

export interface Series {
  readonly sent: readonly SentText[];
  readonly blind: readonly SentText[];
  /** Deliveries before which the agent did not come to rest, or that did not settle. */
  readonly unsettled: number;
}

const settleWithinMs = 30_000;
const blindWithinMs = 3_000;
/** The first deliveries of a process run code for the first time; they are not counted. */
export const warmUpCount = 4;

/** Sends into a quiet agent, one after another, every kind in turn; now and then one by hand and blind. */
export async function sendSeries(
  rig: BenchRig,
  counts: { readonly deliveries: number; readonly blind: number },
  tell: (what: string) => void,
): Promise<Series> {
  const sent: SentText[] = [];
  const blind: SentText[] = [];
  let unsettled = 0;
  const every = Math.max(1, Math.floor(counts.deliveries / Math.max(1, counts.blind)));
  for (let number = -warmUpCount; number < counts.deliveries; number += 1) {
    const kind = kindOf(number + warmUpCount);
    const key = number < 0 ? `warm-up${number}` : `delivery-${number}`;
    const text = textOf(kind, 1_000 + number);
    const quiet = await rig.quiet();
    const settled = await send(rig, key, text);
    if (!quiet || !settled) unsettled += 1;
    if (number >= 0) sent.push({ key, kind, text });
    if (number >= 0 && number % every === 0 && blind.length < counts.blind) {
      const byHand = { key: `blind-${number}`, kind, text: textOf(kind, 5_000 + number) };
      await rig.quiet();
      await writeBlind(rig, byHand);
      blind.push(byHand);
    }
    tell(`${number + 1} of ${counts.deliveries} deliveries`);
  }
  await rig.quiet();
  return { sent, blind, unsettled };
}

/** Nothing of the caller's runs between the call and the event: it waits by events alone. */
async function send(rig: BenchRig, idempotencyKey: string, text: string): Promise<boolean> {
  const { agentId } = rig.session;
  const settled = new Promise<boolean>((resolve) => {
    const end = (completed: boolean): void => {
      subscription[Symbol.dispose]();
      limit[Symbol.dispose]();
      resolve(completed);
    };
    const limit = rig.clock.setTimer(settleWithinMs, () => end(false));
    const subscription = rig.ostler.on('receipt.updated', ({ receipt }) => {
      if (receipt.idempotencyKey !== idempotencyKey) return;
      if (receipt.state === 'completed') end(true);
      if (receipt.state === 'rejected') end(false);
    });
  });
  rig.mark('send', idempotencyKey);
  await rig.ostler.turnSend({ agentId, idempotencyKey, text });
  return await settled;
}

/**
 * Paste and Enter in one write, nothing looked at. Where the Enter gets lost, it is pressed
 * again once the text stands in the composer, so that the series can go on.
 */
async function writeBlind(rig: BenchRig, { key, text }: SentText): Promise<void> {
  const { terminal } = rig.session;
  const token = terminal.writer.acquire();
  try {
    rig.mark('blind', key);
    await terminal.writer.write(token, `${pasteStart}${text}${pasteEnd}\r`);
    if (await taken(rig, text)) return;
    await terminal.writer.write(token, '\r');
    await taken(rig, text);
  } finally {
    terminal.writer.release(token);
  }
}

/** Waits until the text stands in the conversation above an empty composer. */
async function taken(rig: BenchRig, text: string): Promise<boolean> {
  const { reader, terminal } = rig.session;
  return await new Promise<boolean>((resolve) => {
    const end = (result: boolean): void => {
      subscription[Symbol.dispose]();
      limit[Symbol.dispose]();
      resolve(result);
    };
    const limit = rig.clock.setTimer(blindWithinMs, () => end(false));
    const subscription = terminal.onChange((snapshot) => {
      const { composer } = reader.read(snapshot);
      const shown = snapshot.rows.some((row) => row.text.includes(beginningOf(text)));
      if (composer?.draft === '' && shown) end(true);
    });
  });
}

function kindOf(index: number): TextKind {
  return textKinds[index % textKinds.length] ?? '20 B';
}
