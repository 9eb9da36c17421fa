// What a delivery has to hold, case by case, and where each is shown. `sim` names the cases of
// packages/lab/src/simulation/acceptance; every other place is a file and a title in it, or the
// recordings whose expected readings show it. `real: true`: it has to be shown on recordings or real engines too.
const controller = 'packages/controller/src/session-controller.test.ts';
const service = 'packages/service/src/service.test.ts';
const deliveries = 'packages/ostler/live/deliveries.ts';
const dialogs = 'packages/ostler/live/dialogs.ts';
const results = 'packages/ostler/live/results.live.test.ts';
const wire = 'packages/daemon/src/daemon.test.ts';
const parse = 'packages/protocol/src/parse-request.test.ts';
const store = 'packages/store/src/receipt-store.test.ts';
const live = (title, file = deliveries) => ({ live: [file, title] });
const component = (file, title) => ({ component: [file, title] });
const recordings = (...names) => ({ recordings: names });

const hold = (id, says, cast, more = []) => ({
  id,
  says,
  real: true,
  shown: [recordings(...cast), ...more],
});

export const areas = [
  {
    name: 'Delivery',
    cases: [
      {
        id: 'D01',
        says: 'B typed before A ends takes the mode of the engine.',
        real: true,
        sim: true,
        shown: [
          live('inputs while a tool runs'),
          component(controller, 'B typed before A ends takes the mode of the engine'),
        ],
      },
      {
        id: 'D02',
        says: 'Rapid A, B, C go strictly in order, one at a time.',
        real: true,
        sim: true,
        shown: [live('rapid A, B, C, D with two alike arrive in order, none merged')],
      },
      { id: 'D03', says: 'B and C stay delivered when the old turn ends.', sim: true, shown: [] },
      {
        id: 'D04',
        says: 'An engine without a route of its own: B waits with us and is typed at the end of the turn.',
        sim: true,
        shown: [
          component(controller, 'an engine without a native route holds B until the turn ends'),
        ],
      },
      {
        id: 'D05',
        says: 'The mode stays what it was at the dispatch after A has ended.',
        sim: true,
        shown: [component(controller, 'and keeps it after A ends')],
      },
      {
        id: 'D06',
        says: 'Several lines, and texts past the size at which a paste collapses, arrive as one input.',
        real: true,
        sim: true,
        shown: [
          live('16 KiB in many lines and in one'),
          component(service, '16 KiB of many lines arrive whole'),
        ],
      },
      { id: 'D07', says: 'Two callers 30 ms apart never merge.', sim: true, shown: [] },
      {
        id: 'D08',
        says: 'A write that fails rejects its own input, and the next still goes.',
        sim: true,
        shown: [component(controller, 'a failed write rejects its own input only')],
      },
      { id: 'D09', says: 'Two sessions never wait for each other.', sim: true, shown: [] },
      {
        id: 'D10',
        says: "A person's keys during our write land after it, whole.",
        sim: true,
        shown: [component(service, "a person's keys during our write land after it, whole")],
      },
      {
        id: 'D11',
        says: 'A retry under its key gets the stored receipt, another intent a conflict; nothing is typed twice.',
        sim: true,
        shown: [component(service, 'a duplicate gets the stored receipt')],
      },
      {
        id: 'D12',
        says: 'A Codex of an unknown version is never called steering.',
        sim: true,
        shown: [component('packages/engines/src/codex/reader.test.ts', 'the busy rule by version')],
      },
      {
        id: 'D13',
        says: 'With a focusRevision the focus has to stand as it was; without one it is not asked.',
        shown: [component(wire, 'a request is answered by what its first fault is')],
      },
    ],
  },
  {
    name: 'Evidence',
    cases: [
      {
        id: 'E01',
        says: 'A draft that stays: one Enter at a look, and two more at most.',
        sim: true,
        shown: [
          component(
            controller,
            'a draft still there after a confirmed Enter allows two more Enters',
          ),
        ],
      },
      {
        id: 'E02',
        says: 'A write nobody knows of: no further Enter, unknown, and the next waits.',
        sim: true,
        shown: [component(controller, 'after an ambiguous Enter none is pressed again')],
      },
      {
        id: 'E03',
        says: 'An unknown A is raised by its later record, and the barrier is gone.',
        sim: true,
        shown: [component(controller, 'unknown A is raised by a later matching start')],
      },
      {
        id: 'E04',
        says: 'A composer that clears without a record is accepted, and not completed.',
        sim: true,
        shown: [
          component(controller, 'a composer cleared without a start is accepted, not completed'),
        ],
      },
      { id: 'E05', says: 'A screen that is not readable is no acceptance.', sim: true, shown: [] },
      {
        id: 'E06',
        says: 'A screen with only a dialog on it is no acceptance.',
        sim: true,
        shown: [component(controller, 'a composer that is empty after a dialog is not acceptance')],
      },
      {
        id: 'E07',
        says: 'A start that is seen before the write has returned counts.',
        sim: true,
        shown: [],
      },
      { id: 'E08', says: 'A write error behind a start does not undo it.', sim: true, shown: [] },
      {
        id: 'E09',
        says: "Another prompt's start leaves those that wait as they are.",
        sim: true,
        shown: [],
      },
      {
        id: 'E10',
        says: 'Identical texts: first in, first out for acceptance, and unknown for results unless an id tells.',
        sim: true,
        real: true,
        shown: [
          component(controller, 'identical texts are credited first in, first out'),
          live('what is taken during a tool is answered together, equal texts too', results),
        ],
      },
      {
        id: 'E11',
        says: 'The agent gone before the paste rejects; gone after it leaves unknown.',
        sim: true,
        shown: [component(controller, 'the process gone before the paste is a rejection')],
      },
      {
        id: 'E12',
        says: 'A first sign after 12 s still raises it.',
        sim: true,
        shown: [component(controller, 'a first sign of acceptance after 12 s still raises it')],
      },
      {
        id: 'E13',
        says: 'A restart claims nothing it has not seen, and types nothing again.',
        sim: true,
        shown: [
          component(
            service,
            'a restart leaves the dispatched unknown and rejects what was never written',
          ),
        ],
      },
      {
        id: 'E14',
        says: "A collapsed paste's envelope matches only whole, with equal ids and the exact text in it.",
        shown: [
          component(
            'packages/engines/src/claude/fingerprint.test.ts',
            'the envelope of a collapsed paste',
          ),
        ],
      },
      {
        id: 'E15',
        says: 'What was on the screen or in the record before we acted earns no credit.',
        sim: true,
        shown: [component(controller, 'evidence older than the paste belongs to somebody else')],
      },
      {
        id: 'E16',
        says: "An accepted text above the composer is no draft, and a spinner's or a clock's change is no acceptance.",
        sim: true,
        real: true,
        shown: [recordings('claude/2.1.328/busy-stream', 'codex/0.169.0/busy-steer')],
      },
      {
        id: 'E17',
        says: 'Completion comes only from a record that names the input.',
        sim: true,
        shown: [component(controller, 'completion comes only from a record that names the input')],
      },
      {
        id: 'E18',
        says: 'A reading that arrives after a rebind is ignored.',
        sim: true,
        shown: [],
      },
      {
        id: 'E19',
        says: 'A reading of an agent that has gone types nothing.',
        sim: true,
        shown: [],
      },
      {
        id: 'E20',
        says: 'A new process that is killed before it reaches the agent costs the next one no proof.',
        sim: true,
        shown: [],
      },
      {
        id: 'E21',
        says: 'A process that is killed while it takes a text back leaves no barrier behind.',
        sim: true,
        shown: [],
      },
      {
        id: 'E22',
        says: 'A barrier that was lifted is not put up again by a later process.',
        sim: true,
        shown: [],
      },
    ],
  },
  {
    name: 'Holds',
    cases: [
      {
        id: 'H01',
        says: 'Permission, question, menu, transcript and search: nothing is typed, and it goes once they close, in order.',
        real: true,
        sim: true,
        shown: [live(' open before the send', dialogs)],
      },
      {
        id: 'H02',
        says: 'A dialog between the look and the paste gets no Enter.',
        sim: true,
        shown: [],
      },
      {
        id: 'H03',
        says: 'A dialog between the paste and the Enter withholds the Enter.',
        real: true,
        sim: true,
        shown: [live('a permission that opens while an input is being typed', dialogs)],
      },
      {
        id: 'H04',
        says: 'A list our own text opens is no hold, and the Enter it eats is made good.',
        real: true,
        sim: true,
        shown: [live('awkward texts arrive exactly or are refused')],
      },
      {
        id: 'H05',
        says: 'An explicit answer gets the keyboard while prompts wait, and an old question id types nothing.',
        sim: true,
        shown: [
          component(
            service,
            'a question is announced, answered by its id, and an old id types nothing',
          ),
        ],
      },
      {
        id: 'H06',
        says: 'An engine gone to a shell: the text never reaches the shell.',
        sim: true,
        shown: [component(service, 'an agent gone to a shell: the text never reaches the shell')],
      },
      {
        id: 'H07',
        says: "A person's draft: zero bytes are written, and it goes when that clears.",
        real: true,
        sim: true,
        shown: [live("a person's draft is neither sent nor changed")],
      },
      {
        id: 'H08',
        says: 'A ghost text or placeholder, dim, grey or styled late, is no draft.',
        real: true,
        sim: true,
        shown: [recordings('claude/2.1.328/s1-idle-drafts', 'codex/0.169.0/drafts')],
      },
      {
        id: 'H09',
        says: 'While a person has just typed, nothing is.',
        sim: true,
        shown: [component(controller, 'the barrier is gone')],
      },
      hold('H10', 'Rewind and other menus hold.', ['claude/2.1.328/menus', 'codex/0.169.0/menus']),
      hold('H11', 'The question about trust holds.', [
        'claude/2.1.328/s8-trust',
        'codex/0.169.0/trust-over-composer',
      ]),
      hold('H12', 'Codex: the offer of an update holds.', ['codex/0.169.0/update']),
      hold('H13', 'Codex: the choice of a model and onboarding hold.', [
        'codex/0.169.0/model-migration',
        'codex/0.169.0/onboarding',
      ]),
      hold(
        'H14',
        'Claude: a start without settings or key holds.',
        ['claude/2.1.328/api-key'],
        [live('a start without any settings: nothing is typed into it', dialogs)],
      ),
      hold('H15', 'The same words only in the conversation are no hold.', [
        'codex/0.169.0/permission-and-quotes',
      ]),
      hold('H16', 'A permission over a draft holds.', [
        'claude/2.1.328/permission-over-draft',
        'codex/0.169.0/permission-over-draft',
      ]),
    ],
  },
  {
    name: 'Text',
    cases: [
      {
        id: 'T01',
        says: 'Newlines of every kind, tabs, a trailing backslash, emoji, CJK, right-to-left, marks and leading / ! # @ & ? arrive exactly or are refused.',
        sim: true,
        real: true,
        shown: [live('awkward texts arrive exactly or are refused')],
      },
      {
        id: 'T02',
        says: '16 KiB in many lines and in one.',
        sim: true,
        real: true,
        shown: [live('16 KiB in many lines and in one')],
      },
      {
        id: 'T03',
        says: 'A paste bracket in the text, whole, nested, split or as C1, can close no frame.',
        sim: true,
        shown: [
          component(
            'packages/terminal/src/sanitise.test.ts',
            'no output can end a frame or press a key',
          ),
          component(
            'packages/engines/src/claude/body.test.ts',
            'any text: frames stay small, keep graphemes and can close no bracket',
          ),
        ],
      },
      {
        id: 'T04',
        says: 'A text that looks like the marker of a collapsed paste is told from one.',
        real: true,
        shown: [
          live('awkward texts arrive exactly or are refused'),
          component('packages/engines/src/codex/draft.test.ts', 'collapsed frames by their size'),
        ],
      },
    ],
  },
  {
    name: 'Life',
    cases: [
      {
        id: 'L01',
        says: 'Five minutes behind a hold end by a timer as queue_expired, not pasted.',
        sim: true,
        shown: [component(controller, 'five minutes of waiting expire by a timer')],
      },
      { id: 'L02', says: 'An input that a hold gives back keeps its place.', sim: true, shown: [] },
      {
        id: 'L03',
        says: 'A session gone in the middle of a paste: nothing more is written.',
        sim: true,
        shown: [],
      },
      {
        id: 'L04',
        says: 'Cancelled while it waits: rejected; after the dispatch nothing is claimed.',
        sim: true,
        shown: [
          component(
            controller,
            'cancelled while waiting: rejected; after the dispatch: nothing is claimed',
          ),
        ],
      },
      {
        id: 'L05',
        says: 'A resize between the paste and the Enter.',
        real: true,
        sim: true,
        shown: [live('a resize in the middle of a delivery')],
      },
      {
        id: 'L06',
        says: 'A child that stops reading: in doubt within its limit, and said.',
        sim: true,
        shown: [component(service, 'a stalled agent leaves the input in doubt')],
      },
      { id: 'L07', says: 'A start of 40 s: the input waits for it.', sim: true, shown: [] },
      {
        id: 'L08',
        says: 'A new process goes on with a living agent, and with what was on its way.',
        sim: true,
        shown: [component(wire, 'goes on with the agents of the one before')],
      },
      {
        id: 'L09',
        says: 'The ninth waiting input, and more than 24 KiB of them, are refused as queue_full.',
        sim: true,
        shown: [
          component(
            controller,
            'the ninth waiting input and the 24 KiB limit are refused as queue_full',
          ),
        ],
      },
      {
        id: 'L10',
        says: '64 unresolved inputs: the next is refused.',
        sim: true,
        shown: [component(controller, '64 unresolved inputs: the next is refused')],
      },
      {
        id: 'L11',
        says: 'The record moves by /clear, resume and compaction.',
        real: true,
        shown: [live('/clear, compaction and resume in between', results)],
      },
    ],
  },
  {
    name: 'The contract',
    cases: [
      {
        id: 'C01',
        says: 'The order of the checks of a mutation.',
        shown: [
          component(parse, 'the order of checks'),
          component(wire, 'a request is answered by what its first fault is'),
        ],
      },
      {
        id: 'C02',
        says: 'Unknown fields of a request are refused.',
        shown: [component(parse, 'mends one field at a time')],
      },
      {
        id: 'C03',
        says: 'The first request is hello, in the protocol that is spoken.',
        shown: [component(wire, 'says hello first, in the protocol that is spoken')],
      },
      {
        id: 'C04',
        says: 'A frame over 64 KiB ends the connection, which is said.',
        shown: [component(wire, 'ends at a frame that is too large, which is said')],
      },
      {
        id: 'C05',
        says: 'A connection is slowed down past its rate.',
        shown: [component(wire, 'is slowed down past its rate')],
      },
      {
        id: 'C06',
        says: 'A device sees nothing of another.',
        shown: [component(wire, 'a device sees nothing of another')],
      },
      {
        id: 'C07',
        says: 'Events are sent again from a cursor, or a resync is told.',
        shown: [component(wire, 'are sent again from a cursor, across a restart too')],
      },
      {
        id: 'C08',
        says: 'Receipts carry input only for those who chose it.',
        shown: [component(wire, 'receipts carry input only for those who chose it')],
      },
      {
        id: 'C09',
        says: 'Nothing moves a receipt down.',
        shown: [
          component(
            'packages/protocol/src/receipt-change.test.ts',
            'no sequence of changes moves a receipt down',
          ),
        ],
      },
      {
        id: 'C10',
        says: 'Settled receipts leave after 30 minutes; unresolved ones never do, and all unresolved is BACKPRESSURE.',
        shown: [
          component(store, 'settled receipts leave 30 minutes after their last change'),
          component(store, 'unresolved ones never leave, unknown ones included'),
        ],
      },
      {
        id: 'C11',
        says: 'A result names only inputs the record ties to it, is committed with their completion, and goes to their owner alone.',
        real: true,
        shown: [
          component(
            'packages/service/src/results.test.ts',
            'the result is committed once, told the same, and never again',
          ),
          live('one request, one answer', results),
        ],
      },
      {
        id: 'C12',
        says: 'A token that is nobody’s, and one that was revoked, are told so.',
        shown: [
          component(
            wire,
            'of a device that has no token is refused, and one that is revoked says so',
          ),
        ],
      },
      {
        id: 'C13',
        says: 'One daemon a state directory.',
        shown: [component(wire, 'does not start beside one that runs')],
      },
    ],
  },
];
