import { Command, Option } from 'commander';
import { builtInEngines } from '../../built-in-engines.js';
import { stateDirOption } from '../option-values.js';
import type { MailAnswer, MailRun, MailSettings } from './run-mail.js';

interface PostFlags {
  readonly message?: string;
  readonly messageFile?: string;
  readonly notify: boolean;
}

const engines = builtInEngines.map(({ id }) => id).filter((id) => id !== 'generic');
const exitHelp =
  '\nOne JSON document on stdout. Exit code 0: the local operation succeeded; 2: invalid input, or a\n' +
  'notification this call attempted and that is not known to be submitted; 130: Ctrl-C.';

/** `ostler mail …`: durable request and reply between agent sessions. */
export function mailCommand(): Command {
  const mail = scoped(new Command('mail'))
    .description('ask other agent sessions, and answer them; messages survive everything')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `${exitHelp}\n\nExamples:\n` +
        `  ostler mail peer add builder --engine ${engines[0]} --session UUID --workspace .\n` +
        "  ostler mail send builder --message 'Which test is missing?' --as reviewer --wait 45\n" +
        '  OSTLER_PEER=builder ostler mail inbox\n' +
        "  ostler mail --as builder reply REQUEST_ID --message 'The one for an empty file.'\n" +
        '  ostler mail show REQUEST_ID --thread --as reviewer',
    );
  mail.addCommand(peerCommand());
  mail.addCommand(
    posting(scoped(new Command('send')))
      .description('save a request, then notify its recipient once')
      .argument('<recipient>', 'a registered peer')
      .option('--id <uuid>', 'your own id: the same with the same text is the same message')
      .option('--wait <seconds>', 'then wait for the answer, 0 to 45', '0')
      .addHelpText(
        'after',
        "\nExamples:\n  ostler mail send reviewer --message 'Ready?' --as builder --wait 30\n" +
          '  ostler mail send reviewer --message-file question.md --no-notify',
      )
      .action(
        async (
          recipient: string,
          flags: PostFlags & { id?: string; wait: string },
          command: Command,
        ) => {
          await run(command, flags.id ?? null, async ({ onSaved, signal, verbs }) => {
            const waitSeconds = await seconds(flags.wait);
            const body = await bodyOf(flags);
            const post = { body, notify: flags.notify, id: flags.id, waitSeconds, signal, onSaved };
            return { kind: 'json', ...(await verbs.send(recipient, post)) };
          });
        },
      ),
  );
  mail.addCommand(
    posting(scoped(new Command('reply')))
      .description('answer a request, once; the same text again is the same answer')
      .argument('<request-id>')
      .addHelpText(
        'after',
        "\nExample:\n  ostler mail reply REQUEST_ID --message 'Yes.' --as reviewer",
      )
      .action(async (requestId: string, flags: PostFlags, command: Command) => {
        await run(command, requestId, async ({ onSaved, signal, verbs }) => {
          const post = { body: await bodyOf(flags), notify: flags.notify, signal, onSaved };
          return { kind: 'json', ...(await verbs.reply(requestId, post)) };
        });
      }),
  );
  mail.addCommand(
    scoped(new Command('wait'))
      .description('wait for the answer to a request of yours; sends nothing')
      .argument('<request-id>')
      .option('--seconds <seconds>', '0 to 45', '45')
      .addHelpText('after', '\nExample:\n  ostler mail wait REQUEST_ID --seconds 45 --as builder')
      .action(async (requestId: string, flags: { seconds: string }, command: Command) => {
        await run(command, requestId, async ({ signal, verbs }) => ({
          kind: 'json',
          document: await verbs.wait(requestId, await seconds(flags.seconds), signal),
        }));
      }),
  );
  mail.addCommand(showCommand());
  mail.addCommand(
    scoped(new Command('ack'))
      .description('acknowledge a message to you; a question stays open until answered')
      .argument('<message-id>')
      .addHelpText('after', '\nExample:\n  ostler mail ack MESSAGE_ID --as builder')
      .action(async (messageId: string, _flags: object, command: Command) => {
        await run(command, messageId, async ({ verbs }) => ({
          kind: 'json',
          document: await verbs.ack(messageId),
        }));
      }),
  );
  for (const [name, description] of [
    ['inbox', 'unanswered questions and unacknowledged answers; acknowledges nothing'],
    ['sent', 'everything you sent, to find an id again'],
  ] as const) {
    mail.addCommand(
      scoped(new Command(name))
        .description(description)
        .addHelpText('after', `\nExample:\n  ostler mail ${name} --as builder`)
        .action(async (_flags: object, command: Command) => {
          await run(command, null, async ({ verbs }) => ({
            kind: 'json',
            document: await verbs[name](),
          }));
        }),
    );
  }
  return mail;
}

type Run = (
  command: Command,
  messageId: string | null,
  act: (run: MailRun) => Promise<MailAnswer>,
) => Promise<void>;

/** The mailbox's code is loaded when a command of it runs, not before. */
const run: Run = async (command, messageId, act) => {
  const { runMail } = await import('./run-mail.js');
  const settings: MailSettings = {
    db: setting(command, 'db'),
    as: setting(command, 'as'),
    stateDir: setting(command, 'stateDir'),
  };
  await runMail(settings, messageId, act);
};

function peerCommand(): Command {
  const peer = scoped(new Command('peer'))
    .description('names for agent sessions')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\nExamples:\n  ostler mail peer add --help\n  ostler mail peer check builder\n  ostler mail peer list',
    );
  peer.addCommand(
    scoped(new Command('add'))
      .description('register an address, immutable; the same again changes nothing')
      .argument('<name>', 'a–z, 0–9, _ and -, at most 64')
      .addOption(new Option('--engine <engine>', engines.join(' or ')).conflicts('harness'))
      .addOption(new Option('--harness <engine>', 'the same').hideHelp())
      .requiredOption('--session <uuid>', "the session's own id")
      .requiredOption('--workspace <directory>', 'where it works')
      .option('--socket <path>', 'a server the session is reached through')
      .addHelpText(
        'after',
        `\nExample:\n  ostler mail peer add builder --engine ${engines[1]} --session UUID --workspace /src/app`,
      )
      .action(
        async (
          name: string,
          flags: {
            engine?: string;
            harness?: string;
            session: string;
            workspace: string;
            socket?: string;
          },
          command: Command,
        ) => {
          const engine = flags.engine ?? flags.harness ?? '';
          await run(command, null, async ({ verbs }) => ({
            kind: 'json',
            document: verbs.addPeer({ ...flags, name, engine }),
          }));
        },
      ),
  );
  peer.addCommand(
    scoped(new Command('check'))
      .description("look at what shows a session's identity; sends nothing")
      .argument('<name>')
      .addHelpText('after', '\nExample:\n  ostler mail peer check builder')
      .action(async (name: string, _flags: object, command: Command) => {
        await run(command, null, async ({ signal, verbs }) => ({
          kind: 'json',
          document: await verbs.checkPeer(name, signal),
        }));
      }),
  );
  peer.addCommand(
    scoped(new Command('list'))
      .description('all registered addresses')
      .addHelpText('after', '\nExample:\n  ostler mail peer list')
      .action(async (_flags: object, command: Command) => {
        await run(command, null, async ({ verbs }) => ({ kind: 'json', document: verbs.peers() }));
      }),
  );
  return peer;
}

function showCommand(): Command {
  return scoped(new Command('show'))
    .description('one message of yours, with its answer; acknowledges nothing')
    .argument('<message-id>')
    .option('--thread', 'the request it belongs to; on a terminal as a timeline')
    .option('--json', 'a JSON document on a terminal too')
    .addHelpText('after', '\nExample:\n  ostler mail show MESSAGE_ID --thread --as builder')
    .action(
      async (messageId: string, flags: { thread?: boolean; json?: boolean }, command: Command) => {
        await run(command, messageId, async ({ verbs }) => {
          if (flags.thread !== true) return { kind: 'json', document: await verbs.show(messageId) };
          const document = await verbs.thread(messageId);
          if (flags.json === true || !process.stdout.isTTY) return { kind: 'json', document };
          const { timeline } = await import('./timeline.js');
          const { colours, plain } = await import('./style.js');
          const styled = process.stdout.hasColors() ? colours : plain;
          return { kind: 'lines', lines: timeline(document, styled) };
        });
      },
    );
}

/** `--db` and `--as` are taken before and after the verb. */
function scoped(command: Command): Command {
  return command
    .option('--db <path>', 'the mailbox; else OSTLER_MAIL_DB, HTALK_DB, the XDG data directory')
    .option('--as <name>', 'who speaks; else OSTLER_PEER, HTALK_PEER')
    .addOption(stateDirOption())
    .showHelpAfterError('(run the command with --help for its options)')
    .exitOverride();
}

function posting(command: Command): Command {
  return command
    .addOption(new Option('--message <text>', 'the text').conflicts('messageFile'))
    .option('--message-file <path>', 'the text, from a file of UTF-8')
    .option('--no-notify', 'save it for the inbox alone');
}

function setting(command: Command, name: 'db' | 'as' | 'stateDir'): string | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const value: unknown = at.opts()[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

async function bodyOf(flags: PostFlags): Promise<string> {
  if (flags.message !== undefined) return flags.message;
  if (flags.messageFile !== undefined) {
    const { readMessageFile } = await import('./run-mail.js');
    return readMessageFile(flags.messageFile);
  }
  const { CodedError } = await import('@ostler/runtime');
  throw new CodedError('message_required', 'give the text: --message TEXT or --message-file PATH');
}

/** Finite and in range, before anything is saved. */
async function seconds(value: string): Promise<number> {
  const { checkWaitSeconds } = await import('@ostler/mailbox');
  const number = value.trim() === '' ? Number.NaN : Number(value);
  checkWaitSeconds(number);
  return number;
}
