import { type Command, Argument } from 'commander';
import { completionScript, describeTree } from '../completion-script.js';
import { examples } from '../option-values.js';

const shells = ['bash', 'zsh', 'fish'] as const;

export function addCompletions(ostler: Command): void {
  ostler
    .command('completions')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText(
      'after',
      examples(
        'source <(ostler completions bash)',
        'ostler completions zsh > ~/.zfunc/_ostler',
        'ostler completions fish > ~/.config/fish/completions/ostler.fish',
      ),
    )
    .action((shell: (typeof shells)[number]) => {
      process.stdout.write(completionScript(shell, describeTree(ostler)));
    });
}
