import { Argument, type Command, type Option } from 'commander';
import type { Output } from './output.ts';

const shells = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
} as const;

export function addCompletionCommand(program: Command, output: Output): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(shells)))
    .addHelpText(
      'after',
      `
Examples:
  source <(subreport completion bash)    # in ~/.bashrc
  source <(subreport completion zsh)     # in ~/.zshrc, after compinit
  subreport completion fish > ~/.config/fish/completions/subreport.fish
  subreport completion powershell | Out-String | Invoke-Expression    # in $PROFILE`,
    )
    .action((shell: keyof typeof shells) => {
      output.stdout.write(shells[shell](describeCommands(program)));
    });
}

interface DescribedCommand {
  /** `tenant create`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly DescribedOption[];
  /** Whether it takes an argument, which is completed as a file. */
  readonly takesArgument: boolean;
  readonly argumentChoices: readonly string[];
}

interface DescribedOption {
  /** `--output`, and `-o` if there is one. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** Describes a command and its subcommands, in depth-first order. */
function describeCommands(command: Command, path = ''): readonly DescribedCommand[] {
  const help = command.createHelp();
  const described: DescribedCommand = {
    path,
    subcommands: help
      .visibleCommands(command)
      .map((child) => ({ name: child.name(), description: firstSentence(child.description()) })),
    options: help.visibleOptions(command).map(describeOption),
    takesArgument: command.registeredArguments.length > 0,
    argumentChoices: command.registeredArguments[0]?.argChoices ?? [],
  };
  return [described, ...command.commands.flatMap((child) => describeCommands(child, `${path} ${child.name()}`.trim()))];
}

const describeOption = (option: Option): DescribedOption => ({
  names: [option.long, option.short].filter((name) => name !== undefined),
  description: firstSentence(option.description),
  takesValue: option.required || option.optional,
  choices: option.argChoices ?? [],
});

/** Descriptions share a line with a name: the first sentence or part of one. */
const firstSentence = (text: string): string => text.split(/[.:;]( |$)|, | \(/)[0] ?? '';

/** Returns a completion script for bash 3.2 and later. */
function bashCompletion(commands: readonly DescribedCommand[]): string {
  const lines = (format: (command: DescribedCommand) => readonly string[]) => commands.flatMap(format).join('\n');
  return `# bash completion of subreport. In ~/.bashrc: source <(subreport completion bash)
_subreport() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= words= word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$command $word" in
${lines(commandCases)}
    esac
  done
  case "$command $prev" in
${lines(valueCases(bashReply))}
  esac
  case "$command" in
${lines(wordCases)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _subreport subreport
`;
}

/** The cases of bash and zsh that lead from a command to a subcommand. */
const commandCases = ({ path, subcommands }: DescribedCommand): string[] =>
  subcommands.map(({ name }) => `      '${path} ${name}') command='${`${path} ${name}`.trim()}' ;;`);

/** The cases of bash and zsh for the value of an option, whose choices may be empty. */
const valueCases =
  (replyOf: (choices: readonly string[]) => string) =>
  ({ path, options }: DescribedCommand): string[] =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ names, choices }) => {
        const pattern = names.map((name) => `'${path} ${name}'`).join('|');
        return `    ${pattern}) ${replyOf(choices)}; return ;;`;
      });

const bashReply = (choices: readonly string[]): string =>
  choices.length === 0 ? 'COMPREPLY=()' : `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$cur"))`;

const zshReply = (choices: readonly string[]): string =>
  choices.length === 0 ? '_files' : `compadd -- ${choices.join(' ')}`;

/** Subcommands and options. Where an argument can be a file, options follow only after a hyphen. */
function wordCases({ path, subcommands, options, takesArgument, argumentChoices }: DescribedCommand): string[] {
  const flags = options.flatMap(({ names }) => names).join(' ');
  const others = [...subcommands.map(({ name }) => name), ...argumentChoices].join(' ');
  const plain = others !== '' || takesArgument ? others : flags;
  return [`    '${path}') words='${plain}'; [[ $cur == -* ]] && words='${flags}' ;;`];
}

function zshCompletion(commands: readonly DescribedCommand[]): string {
  const lines = (format: (command: DescribedCommand) => readonly string[]) => commands.flatMap(format).join('\n');
  return `#compdef subreport
# zsh completion of subreport. In ~/.zshrc, after compinit: source <(subreport completion zsh)
_subreport() {
  local command= word
  local -a subcommands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$command $word" in
${lines(commandCases)}
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${lines(valueCases(zshReply))}
  esac
  case "$command" in
${lines(itemCases)}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
  elif (( $#subcommands )); then
    _describe command subcommands
  else
    _files
    _describe -o option options
  fi
}
compdef _subreport subreport
`;
}

function itemCases({ path, subcommands, options, argumentChoices }: DescribedCommand): string[] {
  const words = [...subcommands, ...argumentChoices.map((name) => ({ name, description: name }))];
  const items = words.map(({ name, description }) => quote(`${name}:${description}`));
  const flags = options.flatMap(({ names, description }) => names.map((name) => quote(`${name}:${description}`)));
  return [`    '${path}') subcommands=(${items.join(' ')}); options=(${flags.join(' ')}) ;;`];
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns a completion script for fish 3 and later. */
function fishCompletion(commands: readonly DescribedCommand[]): string {
  const cases = commands.flatMap(({ path, subcommands }) =>
    subcommands.map(({ name }) => {
      const found = `${path} ${name}`.trim();
      return `      case '${path} ${name}'\n        set found '${found}'`;
    }),
  );
  return `# fish completion of subreport: subreport completion fish > ~/.config/fish/completions/subreport.fish
function __subreport_is
  set -l found ''
  for word in (commandline -opc)[2..-1]
    switch "$found $word"
${cases.join('\n')}
    end
  end
  test "$found" = "$argv[1]"
end
${commands.flatMap(completeLines).join('\n')}
`;
}

function completeLines({ path, subcommands, options, takesArgument, argumentChoices }: DescribedCommand): string[] {
  const start = `complete -c subreport -n ${quoteForFish(`__subreport_is '${path}'`)}`;
  const words = [...subcommands, ...argumentChoices.map((name) => ({ name, description: name }))];
  return [
    ...(takesArgument && argumentChoices.length === 0 ? [] : [`${start} -f`]),
    ...words.map(({ name, description }) => `${start} -a ${name} -d ${quoteForFish(description)}`),
    ...options.map((option) => `${start} ${optionArguments(option)}`),
  ];
}

function optionArguments({ names, description, takesValue, choices }: DescribedOption): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = choices.length > 0 ? [`-x -a ${quoteForFish(choices.join(' '))}`] : takesValue ? ['-r'] : [];
  return [...flags, ...value, `-d ${quoteForFish(description)}`].join(' ');
}

const quoteForFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Returns a completion script for PowerShell 5 and later. Without a match, it offers files. */
function powershellCompletion(commands: readonly DescribedCommand[]): string {
  const words = commands.map(({ path, subcommands, options, argumentChoices }) => {
    const flags = options.flatMap(({ names }) => names);
    return `  '${path}' = ${powershellList([...subcommands.map(({ name }) => name), ...argumentChoices, ...flags])}`;
  });
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .flatMap(({ names, choices }) => names.map((name) => `  '${path} ${name}' = ${powershellList(choices)}`)),
  );
  return `# PowerShell completion of subreport. In $PROFILE: subreport completion powershell | Out-String | Invoke-Expression
$subreportWords = @{
${words.join('\n')}
}
$subreportValues = @{
${values.join('\n')}
}
Register-ArgumentCompleter -Native -CommandName subreport -ScriptBlock {
  param($word, $line, $position)
  $command = ''
  $typed = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -ne '' -and $typed.Count -gt 0) { $typed = @($typed | Select-Object -SkipLast 1) }
  foreach ($each in $typed) {
    $next = "$command $each".Trim()
    if ($subreportWords.ContainsKey($next)) { $command = $next }
  }
  $previous = if ($typed.Count -gt 0) { $typed[-1] } else { '' }
  $offered = $subreportValues["$command $previous"]
  if ($null -eq $offered) { $offered = $subreportWords[$command] }
  $offered | Where-Object { $_ -like "$word*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`;
}

const powershellList = (words: readonly string[]): string =>
  `@(${words.map((word) => `'${word.replaceAll("'", "''")}'`).join(', ')})`;
