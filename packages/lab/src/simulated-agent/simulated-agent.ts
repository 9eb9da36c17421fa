import { StringDecoder } from 'node:string_decoder';
import type { Clock, Timer } from '@ostler/runtime';
import { ComposerKeys } from './composer-keys.js';
import { DialogStack } from './dialog-stack.js';
import { type KeyInput, KeyParser } from './key-parser.js';
import { paintFrame, type SaidLine, type Scene } from './paint.js';
import { Painter } from './painter.js';
import { Plan } from './plan.js';
import { RecordWriter } from './record-writer.js';
import type { Action, SimulatedScript } from './script.js';
import type { TruthFields } from './truth.js';
import { Turns } from './turns.js';
import { words } from './words.js';

/** What the agent needs of the world: a terminal, a record, someone to tell the truth to. */
export interface AgentHost {
  readonly clock: Clock;
  readonly cols: number;
  readonly rows: number;
  readonly recordPath: string;
  /** What the record calls the session; `session-1` where left out. */
  readonly sessionId?: string;
  write(data: string): void;
  /** While off, no input is taken from the terminal. */
  setReading(on: boolean): void;
  appendRecord(path: string, data: string): void;
  truth(fields: TruthFields): void;
  exit(code: number): void;
  crash(): void;
}

type Phase = 'starting' | 'ready' | 'shell' | 'left';

const maxSaidLines = 500;
const maxWaitingKeys = 10_000;
const escapeWaitMs = 25;
const frameMs = 4;

/** A coding agent's terminal program, without the agent: what it does is the script's. */
export class SimulatedAgent {
  readonly #script: SimulatedScript;
  readonly #host: AgentHost;
  readonly #decoder = new StringDecoder('utf8');
  readonly #parser = new KeyParser();
  readonly #painter: Painter;
  readonly #record: RecordWriter;
  readonly #turns: Turns;
  readonly #plan: Plan;
  readonly #composer: ComposerKeys;
  readonly #dialogs: DialogStack;
  readonly #said: SaidLine[] = [];
  readonly #keys: KeyInput[] = [];
  #phase: Phase = 'starting';
  #cols: number;
  #rows: number;
  #bracketed = false;
  #ghost: string | null;
  #spinnerStep = 0;
  #keyTimer: Timer | null = null;
  #escapeTimer: Timer | null = null;
  #frameTimer: Timer | null = null;
  #spinnerTimer: Timer | null = null;
  #drawing = true;
  #stalledUntil: string | null = null;
  #shellLine = '';
  #signalled = '';

  constructor(script: SimulatedScript, host: AgentHost) {
    this.#script = script;
    this.#host = host;
    this.#cols = host.cols;
    this.#rows = host.rows;
    this.#ghost = script.look.placeholder;
    this.#painter = new Painter(script.look.synchronizedOutput);
    this.#record = new RecordWriter(script.record, host.recordPath, host.clock, {
      append: (path, data) => host.appendRecord(path, data),
    });
    this.#plan = new Plan(script.plan, host.clock, (action) => this.act(action));
    const shared = {
      clock: host.clock,
      truth: (fields: TruthFields) => host.truth(fields),
      ignored: (key: KeyInput, why: string) => this.#ignored(key, why),
      onChange: () => this.#changed(),
    };
    this.#turns = new Turns(script, {
      ...shared,
      record: this.#record,
      isDialogOpen: () => this.#dialogs.front !== null,
      onOutput: (lines) => this.#say(lines, 'agent'),
      onPrompt: (input) => {
        this.#say([input.text], 'person');
        this.#plan.happened('prompt', input.text);
      },
      onTurnEnd: () => this.#plan.happened('turn_end'),
    });
    this.#dialogs = new DialogStack({
      ...shared,
      onLastClosed: () => this.#turns.onDialogClosed(),
    });
    this.#composer = new ComposerKeys(script, {
      ...shared,
      onPaste: () => this.#plan.happened('paste'),
      onSubmit: (text) => this.#turns.submit(text),
      onCommand: (text) => {
        host.truth({ event: 'command_run', text });
        this.#say([`Ran ${text}`], 'agent');
      },
      isBusy: () => this.#turns.busy,
      interrupt: () => this.#turns.end('cancelled'),
      withdraw: () => this.#turns.withdraw(),
      quit: () => this.#leave(0),
    });
  }

  start(): void {
    const { look, timing } = this.#script;
    this.#host.truth({ event: 'started' });
    if (look.alternateScreen) this.#host.write('\u001b[?1049h');
    if (timing.bracketedPasteMs === 0) this.#setBracketed(true);
    else if (timing.bracketedPasteMs !== null) {
      this.#host.clock.setTimer(timing.bracketedPasteMs, () => this.#setBracketed(true));
    }
    this.#composer.draft.type(this.#script.draft);
    this.#plan.start();
    this.#plan.happened('start');
    if (timing.startMs === 0) this.#becomeReady();
    else this.#host.clock.setTimer(timing.startMs, () => this.#becomeReady());
    this.#changed();
  }

  /** Takes bytes from the terminal. */
  input(data: Uint8Array): void {
    this.#escapeTimer?.[Symbol.dispose]();
    this.#take(this.#parser.push(this.#decoder.write(Buffer.from(data)), this.#bracketed));
    if (!this.#parser.incomplete) return;
    this.#escapeTimer = this.#host.clock.setTimer(escapeWaitMs, () =>
      this.#take(this.#parser.flush()),
    );
  }

  resize(cols: number, rows: number): void {
    this.#cols = cols;
    this.#rows = rows;
    this.#painter.invalidate();
    this.#changed();
  }

  /** Carries out one action now. */
  act(action: Action): void {
    switch (action.do) {
      case 'open':
        return this.#dialogs.open(action.dialog);
      case 'close':
        return this.#dialogs.close();
      case 'stall':
        return this.#stall(action);
      case 'resume':
        return this.#resume();
      case 'exit':
        return this.#leave(action.code ?? 0);
      case 'crash':
        this.#host.truth({ event: 'left', how: 'crash' });
        return this.#host.crash();
      case 'shell':
        return this.#becomeShell();
      case 'type':
        this.#composer.draft.type(action.text);
        return this.#changed();
      case 'clear':
        return this.#composer.clear('action');
      case 'ghost':
        this.#ghost = action.text;
        return this.#changed();
      case 'bracketed_paste':
        return this.#setBracketed(action.on);
      case 'output':
        return this.#say(action.lines, 'agent');
      case 'swallow_enters':
        this.#composer.swallowEnters = action.count;
        return;
      case 'rotate_record':
        return this.#record.rotate();
      case 'boundary':
        return this.#turns.boundary();
      case 'end_turn':
        return this.#turns.end(action.outcome ?? 'completed');
      case 'release':
        return this.#release(action.name);
    }
  }

  /** Gives the terminal back; the process may go. */
  stop(): void {
    if (this.#phase === 'left') return;
    this.#phase = 'left';
    this.#record.flush();
    const screen = this.#script.look.alternateScreen ? '\u001b[?1049l' : '\r\n';
    this.#host.write(`\u001b[?2004l\u001b[?2026l\u001b[?25h\u001b[0m${screen}`);
  }

  #release(name: string): void {
    this.#host.truth({ event: 'released', text: name });
    if (this.#stalledUntil === name) this.#resume();
    this.#turns.onRelease(name);
    this.#plan.happened('release', name);
  }

  #becomeReady(): void {
    if (this.#phase !== 'starting') return;
    this.#phase = 'ready';
    this.#host.truth({ event: 'ready' });
    this.#record.write({
      type: 'session',
      at: this.#host.clock.nowMs(),
      id: this.#host.sessionId ?? 'session-1',
    });
    this.#painter.invalidate();
    this.#changed();
    this.#plan.happened('ready');
    this.#pump();
  }

  #take(keys: readonly KeyInput[]): void {
    for (const key of keys) {
      if (this.#keys.length < maxWaitingKeys) this.#keys.push(key);
      else this.#ignored(key, 'too many keys waiting');
    }
    this.#pump();
  }

  /** Reads waiting keys, at the script's pace. */
  #pump(): void {
    const { keyMs, earlyInput } = this.#script.timing;
    while (!this.#keyTimer?.active) {
      if (this.#phase === 'starting' && earlyInput === 'buffer') return;
      const key = this.#keys.shift();
      if (!key) return;
      this.#read(key);
      if (keyMs > 0) this.#keyTimer = this.#host.clock.setTimer(keyMs, () => this.#pump());
    }
  }

  #read(key: KeyInput): void {
    if (key.kind === 'sequence') return;
    if (this.#phase === 'left') return this.#ignored(key, 'left');
    if (this.#phase === 'shell') return this.#readInShell(key);
    if (this.#phase === 'starting') return this.#readEarly(key);
    // Whatever is planned for this Enter happens before anyone reads it.
    if (key.kind === 'key' && key.name === 'enter') this.#plan.happened('enter');
    const dialog = this.#dialogs.front;
    if (dialog) this.#dialogs.read(key, dialog);
    else if (this.#phase === 'ready') this.#composer.read(key);
    this.#changed();
  }

  #readEarly(key: Exclude<KeyInput, { kind: 'sequence' }>): void {
    const lost = key.kind === 'key' || this.#script.timing.earlyInput === 'ignored';
    if (lost) this.#ignored(key, 'not ready');
    else this.#composer.insert(key);
  }

  #readInShell(key: KeyInput): void {
    const typed = key.kind === 'paste' || key.kind === 'text' ? key.text : '';
    this.#host.truth({ event: 'shell_received', text: key.raw });
    this.#shellLine += typed;
    this.#host.write(typed.replaceAll('\n', '\r\n'));
    if (key.kind !== 'key' || key.name !== 'enter') return;
    if (this.#shellLine !== '') this.#host.truth({ event: 'command_run', text: this.#shellLine });
    this.#shellLine = '';
    this.#host.write(`\r\n${words.shellPrompt}`);
  }

  #becomeShell(): void {
    this.#host.truth({ event: 'left', how: 'shell' });
    this.stop();
    this.#phase = 'shell';
    this.#bracketed = false;
    this.#host.write(`\r\n${words.shellPrompt}`);
  }

  #leave(code: number): void {
    this.#host.truth({ event: 'left', how: 'exit' });
    this.stop();
    this.#host.exit(code);
  }

  #stall(action: Extract<Action, { do: 'stall' }>): void {
    this.#host.truth({ event: 'stalled', how: action.what });
    this.#stalledUntil = action.until ?? null;
    if (action.what === 'reading') this.#host.setReading(false);
    else this.#drawing = false;
    if (action.what === 'mid_frame') {
      this.#host.write(this.#painter.paintHalf(paintFrame(this.#scene())));
    }
    if (action.forMs !== undefined) {
      this.#host.clock.setTimer(action.forMs, () => this.#resume());
    }
  }

  #resume(): void {
    this.#host.truth({ event: 'resumed' });
    this.#stalledUntil = null;
    this.#drawing = true;
    this.#host.setReading(true);
    this.#changed();
  }

  #setBracketed(on: boolean): void {
    this.#bracketed = on;
    this.#host.write(on ? '\u001b[?2004h' : '\u001b[?2004l');
  }

  #ignored(key: KeyInput, why: string): void {
    this.#host.truth({ event: 'bytes_ignored', text: key.raw, why });
  }

  #say(lines: readonly string[], from: SaidLine['from']): void {
    for (const text of lines) this.#said.push({ text, from });
    this.#said.splice(0, Math.max(0, this.#said.length - maxSaidLines));
    this.#changed();
  }

  #changed(): void {
    if (this.#frameTimer?.active || !this.#drawing) return;
    const delayMs = Math.max(frameMs, this.#script.timing.echoMs);
    this.#frameTimer = this.#host.clock.setTimer(delayMs, () => this.#draw());
  }

  #draw(): void {
    if (!this.#drawing || this.#phase === 'shell' || this.#phase === 'left') return;
    if (this.#phase === 'starting') {
      this.#host.write(`\u001b[1;1H\u001b[2K${words.splash}\u001b[?25l`);
      return;
    }
    this.#signal();
    this.#host.write(this.#painter.paint(paintFrame(this.#scene())));
    if (!this.#turns.busy || this.#spinnerTimer?.active) return;
    this.#spinnerTimer = this.#host.clock.setTimer(this.#script.look.spinnerMs, () => {
      this.#spinnerStep += 1;
      this.#changed();
    });
  }

  /** Says the state beside the screen, when it changed. */
  #signal(): void {
    const dialog = this.#dialogs.front;
    const state = dialog ? 'blocked' : this.#turns.busy ? 'working' : 'idle';
    if (state === this.#signalled) return;
    this.#signalled = state;
    const kind = dialog ? `:kind=${dialog.kind}` : '';
    const { title, programState } = this.#script.look;
    if (programState) this.#host.write(`\u001b]7501;state=${state}:app=simulated${kind}\u001b\\`);
    if (title) this.#host.write(`\u001b]0;simulated agent: ${state}\u0007`);
  }

  #scene(): Scene {
    return {
      cols: this.#cols,
      rows: this.#rows,
      look: this.#script.look,
      said: this.#said,
      busy: this.#turns.busy,
      spinnerStep: this.#spinnerStep,
      queue: this.#script.busyRule === 'native_input' ? [] : this.#turns.queued,
      dialog: this.#dialogs.front,
      draft: this.#composer.draft,
      ghost: this.#ghost,
      popups: this.#composer.popups,
    };
  }
}
