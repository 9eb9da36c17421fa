import type { Engine } from '@ostler/engines';
import type { LaunchOptions } from '../launch-options.js';
import type { ModelReceived } from './demo-report.js';
import { simulatedScript } from './scenario.js';

/** The agent of a demo, and the strings behind it that a demo pulls. */
export interface DemoAgent extends AsyncDisposable {
  readonly launch: LaunchOptions;
  /** Engines that the launch needs beside the built-in ones. */
  readonly engines: readonly Engine[];
  /** Lets the running task come to a point where the agent takes what was typed meanwhile. */
  boundary(): Promise<void>;
  openDialog(): Promise<void>;
  /** The least time a person looks at the dialog. Agents ignore keys that no person can be so fast to press. */
  readonly personMs: number;
  /** The person closes the dialog; `press` types for them. */
  closeDialog(press: (keys: string) => void): Promise<void>;
  /** Lets the task end. */
  finish(): Promise<void>;
  received(): readonly ModelReceived[];
  /** Dialogs answered by a key that wasn't the person's. */
  strayAnswers(): number;
}

export async function simulatedDemoAgent(size: {
  readonly cols: number;
  readonly rows: number;
}): Promise<DemoAgent> {
  const { simulatedEngine, simulatedLaunch } = await import('@ostler/lab');
  const { control, ...launch } = await simulatedLaunch({ script: simulatedScript });
  const { args, command, cwd, engine, env } = launch;
  return {
    launch: { engine, command, args, cwd, env, cleanEnv: true, ...size },
    engines: [simulatedEngine],
    boundary: () => control.act({ do: 'boundary' }),
    openDialog: () => control.open('permission'),
    personMs: 0,
    closeDialog: () => control.close(),
    async finish() {
      await control.act({ do: 'boundary' });
      await control.release('finish');
    },
    received: () => control.received(),
    strayAnswers: () => control.events.filter(({ event }) => event === 'dialog_answered').length,
    [Symbol.asyncDispose]: () => control[Symbol.asyncDispose](),
  };
}
