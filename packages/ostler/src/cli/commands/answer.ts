import { CodedError } from '@ostler/runtime';
import type { Command } from 'commander';
import { findAgent, targetOf } from '../find-agent.js';
import { type MutationFlags, mutate, withMutationOptions } from '../mutation-options.js';
import { examples } from '../option-values.js';
import { shown } from '../output.js';
import { type DaemonRun, withDaemon } from '../with-daemon.js';

export function addAnswer(ostler: Command): void {
  withMutationOptions(
    ostler
      .command('answer')
      .description("answer an agent's open question; without answers, show it")
      .argument('<name>', "the agent's name or id")
      .argument('[answers...]', 'one for each question, in order'),
  )
    .addHelpText(
      'after',
      `${examples('ostler answer work', "ostler answer work 'Keep the old format'")}\n\nA permission dialog is never answered: attach, and decide there.`,
    )
    .action((name: string, answers: readonly string[], flags: MutationFlags) =>
      withDaemon(flags, (run) => answer(run, name, answers, flags)),
    );
}

async function answer(
  run: DaemonRun,
  name: string,
  answers: readonly string[],
  flags: MutationFlags,
): Promise<void> {
  const { client, json, output } = run;
  const agent = await findAgent(client, name);
  const { openQuestion } = await client.call('status', targetOf(agent));
  if (answers.length === 0) {
    if (json) output.json({ openQuestion });
    else if (!openQuestion) output.text(`${agent.name} asks nothing`);
    for (const { options, text } of json ? [] : (openQuestion?.questions ?? [])) {
      output.text(output.style('bold', shown(text)));
      for (const option of options) output.text(`  ${shown(option)}`);
    }
    return;
  }
  if (!openQuestion) throw new CodedError('QUESTION_STALE', `${agent.name} asks nothing now`);
  const { questions, requestId } = openQuestion;
  if (questions.length !== answers.length) {
    throw new CodedError('USAGE', `give ${questions.length} answers, one for each question`);
  }
  const given = Object.fromEntries(questions.map(({ text }, at) => [text, answers[at] ?? '']));
  await mutate(run, flags, (idempotencyKey) =>
    client.call('question.answer', {
      ...targetOf(agent),
      idempotencyKey,
      questionRequestId: requestId,
      answers: given,
    }),
  );
}
