import { type OstlerClient, ResultFollower, ResultInbox, type Utterance } from '@ostler/client';
import { connectLocal } from '@ostler/client/node';
import { openSqliteInboxStorage } from '@ostler/client/node-inbox';
import { Disposables } from '@ostler/runtime';
import type { TurnResult } from '@ostler/protocol';

const reconnect = { firstDelayMs: 20, maxDelayMs: 100, maxAttempts: 600, stableAfterMs: 1_000 };

export interface VoiceDeviceOptions {
  readonly stateDir: string;
  readonly token: string;
  readonly inboxPath: string;
}

/** A result as it came, and the instance of the server that its envelope named. */
export interface Arrival {
  readonly result: TurnResult;
  readonly instance: string;
}

/** What one process of a device has open. */
interface Process extends AsyncDisposable {
  readonly client: OstlerClient;
  readonly follower: ResultFollower;
  readonly inbox: ResultInbox;
}

/** A device with its inbox in a file, in one process after another. */
export class VoiceDevice implements AsyncDisposable {
  /** Every `turn.result` frame, those sent again included. */
  readonly arrivals: Arrival[] = [];
  /** What was said aloud, in all its processes. */
  readonly spoken: Utterance[] = [];
  /** Everything the inbox did not take, and every failure. */
  readonly faults: string[] = [];
  resyncs = 0;
  readonly #options: VoiceDeviceOptions;
  #process: Process | null = null;
  #speaking: Promise<void> = Promise.resolve();

  private constructor(options: VoiceDeviceOptions) {
    this.#options = options;
  }

  static async open(options: VoiceDeviceOptions): Promise<VoiceDevice> {
    const device = new VoiceDevice(options);
    await device.start();
    return device;
  }

  get client(): OstlerClient {
    return this.#open.client;
  }

  get follower(): ResultFollower {
    return this.#open.follower;
  }

  /** `from`: where among the events it goes on, if not behind what the inbox has applied. */
  async start(from: 'inbox' | 'all' = 'inbox'): Promise<void> {
    const owned = new Disposables();
    const { inboxPath, stateDir, token } = this.#options;
    const storage = await openSqliteInboxStorage({ path: inboxPath });
    const inbox = owned.own(await ResultInbox.open({ storage }));
    const resume =
      from === 'inbox' ? await inbox.resumePoint() : { serverInstanceId: 'none', cursor: 0 };
    const client = owned.own(await connectLocal({ stateDir, token, reconnect, resume }));
    client.on('turn.result', ({ payload, serverInstanceId: instance }) => {
      this.arrivals.push({ result: payload, instance });
    });
    client.on('resync', () => {
      this.resyncs += 1;
    });
    const follower = owned.own(
      new ResultFollower({
        client,
        inbox,
        onEffect: (effect) => {
          if (effect.effect === 'stored') this.#speak(inbox);
          else if (effect.effect === 'refused' || effect.effect === 'protocol_error') {
            this.faults.push(JSON.stringify(effect));
          }
        },
      }),
    );
    this.#process = {
      ...{ client, follower, inbox },
      [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
    };
  }

  /** Ends the process; the inbox's file stays. */
  async stop(): Promise<void> {
    await this.#process?.follower.settled();
    await this.#speaking;
    await this.#process?.[Symbol.asyncDispose]();
    this.#process = null;
  }

  /** Everything that came has been applied and said. */
  async settled(): Promise<void> {
    await this.follower.settled();
    await this.#speaking;
  }

  /** What stands in the outbox and was not said for certain. */
  async unsaid(): Promise<readonly Utterance[]> {
    const { inbox } = this.#open;
    return [...(await inbox.queued()), ...(await inbox.uncertain())];
  }

  async openKeys(): Promise<readonly string[]> {
    return (await this.#open.inbox.openKeys()).map(({ idempotencyKey }) => idempotencyKey);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get #open(): Process {
    if (!this.#process) throw new Error('the device is not running');
    return this.#process;
  }

  #speak(inbox: ResultInbox): void {
    this.#speaking = this.#speaking.then(async () => {
      const { kind } = await inbox.speakNext((utterance) => {
        this.spoken.push(utterance);
        return Promise.resolve();
      });
      if (kind !== 'spoken') this.faults.push(`an utterance is ${kind}`);
    });
  }
}
