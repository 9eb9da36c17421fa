import type { Command } from 'commander';

/** One command as a shell completes it. */
export interface CommandWords {
  /** Behind `ostler`, joined by blanks; empty for `ostler` itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly {
    readonly flag: string;
    readonly description: string;
    readonly takesValue: boolean;
    readonly choices: readonly string[];
  }[];
  /** Its first argument is a running agent's name: the daemon is asked. */
  readonly takesAgent: boolean;
}

const agentArgument = "the agent's name or id";
const agentOption = '--agent';
const askNames = 'ostler agents --names 2>/dev/null';

/** Every command of the tree, from the top down. */
export function describeTree(command: Command, path = ''): readonly CommandWords[] {
  const own: CommandWords = {
    path,
    takesAgent: command.registeredArguments[0]?.description === agentArgument,
    commands: command.commands.map((each) => ({
      name: each.name(),
      description: each.description(),
    })),
    options: [
      ...command.options
        .filter(({ hidden, long }) => !hidden && long != null)
        .map(({ argChoices, description, long, optional, required }) => ({
          flag: long ?? '',
          description,
          takesValue: required || optional,
          choices: argChoices ?? [],
        })),
      { flag: '--help', description: 'display help', takesValue: false, choices: [] },
    ],
  };
  const below = command.commands.flatMap((each) =>
    describeTree(each, path === '' ? each.name() : `${path} ${each.name()}`),
  );
  return [own, ...below];
}

export function completionScript(
  shell: 'bash' | 'zsh' | 'fish',
  tree: readonly CommandWords[],
): string {
  if (shell === 'bash') return bash(tree);
  if (shell === 'fish') return fish(tree);
  return `#compdef ostler\nautoload -U +X bashcompinit && bashcompinit\n${bash(tree)}`;
}

function bash(tree: readonly CommandWords[]): string {
  const words = tree.map(({ commands, options, path }) => {
    const all = [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag)];
    return `    ${quoted(path)}) words=${quoted(all.join(' '))} ;;`;
  });
  const values = tree.flatMap(({ options, path }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ choices, flag }) =>
        flag === agentOption
          ? `    ${quoted(`${path}:${flag}`)}) COMPREPLY=($(compgen -W "$(${askNames})" -- "$current")); return ;;`
          : choices.length === 0
            ? `    ${quoted(`${path}:${flag}`)}) COMPREPLY=($(compgen -f -- "$current")); return ;;`
            : `    ${quoted(`${path}:${flag}`)}) COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$current")); return ;;`,
      ),
  );
  const paths = tree.map(({ path }) => path).filter((path) => path !== '');
  return `_ostler() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path="" next word words=""
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -- ]] && return
    next="\${path:+$path }$word"
    case "$next" in
    ${paths.map(quoted).join('|')}) path="$next" ;;
    esac
  done
  case "$path:$previous" in
${values.join('\n')}
  esac
  case "$path" in
${words.join('\n')}
  esac
  case "$path" in
    ${tree
      .filter(({ takesAgent }) => takesAgent)
      .map(({ path }) => quoted(path))
      .join('|')}) [[ $current == -* ]] || words="$words $(${askNames})" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _ostler ostler
`;
}

function fish(tree: readonly CommandWords[]): string {
  const lines = tree.flatMap(({ commands, options, path, takesAgent }) => {
    const names = commands.map(({ name }) => name);
    const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
    const here = [
      ...(path === '' ? [] : seen),
      ...(names.length === 0 ? [] : [`not __fish_seen_subcommand_from ${names.join(' ')}`]),
    ].join('; and ');
    const start = `complete -c ostler${here === '' ? '' : ` -n ${quoted(here)}`}`;
    return [
      ...(takesAgent ? [`${start} -f -a ${quoted(`(${askNames})`)}`] : []),
      ...commands.map(
        ({ description, name }) => `${start} -f -a ${name} -d ${quoted(description)}`,
      ),
      ...options.map(({ choices, description, flag, takesValue }) => {
        const value = takesValue ? ' -r' : '';
        const values = flag === agentOption ? `(${askNames})` : choices.join(' ');
        const from = values === '' ? '' : ` -f -a ${quoted(values)}`;
        return `${start} -l ${flag.slice(2)}${value}${from} -d ${quoted(description)}`;
      }),
    ];
  });
  return `${lines.join('\n')}\n`;
}

/** For bash, zsh and fish alike: no escape inside single quotes is common to all, so none is needed. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`;
}
