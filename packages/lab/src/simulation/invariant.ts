import type {
  DepthFact,
  DialogFact,
  EndFact,
  EraseFact,
  ReceiptFact,
  ReplyFact,
  RestFact,
  ResultFact,
  SubmitFact,
  WriteFact,
} from './truth.js';

/** Each looks at one fact and says what is wrong with it, or null. */
export interface Checks {
  /** Guarded bytes leave our house. */
  readonly write: (fact: WriteFact) => string | null;
  /** A receipt was changed in the store. */
  readonly receipt: (fact: ReceiptFact) => string | null;
  /** A result was committed. */
  readonly result: (fact: ResultFact) => string | null;
  /** The engine takes its draft as an input. */
  readonly submit: (fact: SubmitFact) => string | null;
  /** A key did something to a dialog. */
  readonly dialog: (fact: DialogFact) => string | null;
  readonly erase: (fact: EraseFact) => string | null;
  /** A shell read bytes of ours. */
  readonly shell: (fact: DialogFact['seen']) => string | null;
  /** A caller got an answer. */
  readonly reply: (fact: ReplyFact) => string | null;
  readonly depth: (fact: DepthFact) => string | null;
  readonly rest: (fact: RestFact) => string | null;
  readonly end: (fact: EndFact) => string | null;
}

export interface Invariant {
  readonly name: string;
  readonly sentence: string;
  readonly checks: Partial<Checks>;
}
