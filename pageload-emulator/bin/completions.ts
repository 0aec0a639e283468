/** `hopwise completions`: scripts that complete commands, flags and the values of flags in shells, made from the commands themselves. */
import { Argument, type Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Adds the command that prints completions. */
export function addCompletionsCommand(program: Command): void {
  program
    .command('completions')
    .description('print a script that completes this command in a shell')
    .addArgument(new Argument('<shell>', 'whose script').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  hopwise completions bash > ~/.local/share/bash-completion/completions/hopwise
  hopwise completions zsh > ~/.zfunc/_hopwise
  hopwise completions fish > ~/.config/fish/completions/hopwise.fish`,
    )
    .action((shell: Shell) => {
      process.stdout.write(SCRIPTS[shell](program.name(), describeCommands(program)));
    });
}

interface CompletedFlag {
  name: string;
  description: string;
  takesValue: boolean;
  values: readonly string[];
}

interface CompletedCommand {
  name: string;
  description: string;
  flags: CompletedFlag[];
  values: readonly string[];
}

function describeCommands(program: Command): CompletedCommand[] {
  return program.commands.map((command) => ({
    name: command.name(),
    description: firstClause(command.description()),
    values: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    flags: [
      ...command.options.map((option) => ({
        name: option.long!,
        description: firstClause(option.description),
        takesValue: option.required,
        values: option.argChoices ?? [],
      })),
      { name: '--help', description: 'describe the command', takesValue: false, values: [] },
    ],
  }));
}

/** A description as one short line without what shells would read. */
const firstClause = (text: string): string =>
  text
    .split(/[:;(]/, 1)[0]!
    .replace(/['"`$\\[\]]/g, '')
    .trim();

const SCRIPTS: Record<Shell, (name: string, commands: readonly CompletedCommand[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

function bashScript(name: string, commands: readonly CompletedCommand[]): string {
  const cases = commands.flatMap((command) => [
    `    ${command.name})`,
    '      case "$previous" in',
    ...command.flags
      .filter(({ takesValue }) => takesValue)
      .map(({ name: flag, values }) =>
        values.length > 0
          ? `        ${flag}) COMPREPLY=($(compgen -W "${values.join(' ')}" -- "$word")); return ;;`
          : `        ${flag}) COMPREPLY=($(compgen -f -- "$word")); return ;;`,
      ),
    '      esac',
    `      words="${[...command.flags.map((flag) => flag.name), ...command.values].join(' ')}" ;;`,
  ]);
  return `# bash completion of ${name}
_${name}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map((command) => command.name).join(' ')} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "$word" in -*) ;; *) COMPREPLY+=($(compgen -f -- "$word")) ;; esac
}
complete -o filenames -F _${name} ${name}
`;
}

function zshScript(name: string, commands: readonly CompletedCommand[]): string {
  const cases = commands.flatMap((command) => [
    `    ${command.name})`,
    '      _arguments \\',
    ...command.flags.map(({ name: flag, description, takesValue, values }) => {
      const value = values.length > 0 ? `:value:(${values.join(' ')})` : takesValue ? ':value:_files' : '';
      return `        '*${flag}[${description}]${value}' \\`;
    }),
    command.values.length > 0
      ? `        '*:value:(${command.values.join(' ')})' ;;`
      : `        '*:file:_files' ;;`,
  ]);
  return `#compdef ${name}
_${name}() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map((command) => `      '${command.name}:${command.description}'`).join('\n')}
    )
    _describe command commands
    return
  fi
  local chosen="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$chosen" in
${cases.join('\n')}
  esac
}
_${name} "$@"
`;
}

function fishScript(name: string, commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => {
    const inCommand = `complete -c ${name} -n '__fish_seen_subcommand_from ${command.name}'`;
    return [
      `complete -c ${name} -n __fish_use_subcommand -f -a ${command.name} -d '${command.description}'`,
      ...(command.values.length > 0 ? [`${inCommand} -f -a '${command.values.join(' ')}'`] : []),
      ...command.flags.map(({ name: flag, description, takesValue, values }) => {
        const value = values.length > 0 ? ` -x -a '${values.join(' ')}'` : takesValue ? ' -r' : '';
        return `${inCommand} -l ${flag.slice(2)}${value} -d '${description}'`;
      }),
    ];
  });
  return `# fish completion of ${name}\n${lines.join('\n')}\n`;
}
