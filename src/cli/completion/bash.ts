import type { DescribedCommand } from './described-command.ts';

/** Returns a completion script for bash 3.2 and later. */
export function bashCompletion(commands: readonly DescribedCommand[]): string {
  const lines = (format: (command: DescribedCommand) => readonly string[]) => commands.flatMap(format).join('\n');
  return `# bash completion of subreport. In ~/.bashrc: source <(subreport completion bash)
_subreport() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= words= word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$command $word" in
${lines(({ path, subcommands }) => subcommands.map(({ name }) => `      '${path} ${name}') command='${`${path} ${name}`.trim()}' ;;`))}
    esac
  done
  case "$command $prev" in
${lines(valueCases)}
  esac
  case "$command" in
${lines(wordCases)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _subreport subreport
`;
}

/** The values of an option: its choices, or files. */
const valueCases = ({ path, options }: DescribedCommand): string[] =>
  options
    .filter(({ takesValue }) => takesValue)
    .map(({ names, choices }) => {
      const pattern = names.map((name) => `'${path} ${name}'`).join('|');
      const reply =
        choices.length === 0 ? 'COMPREPLY=()' : `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$cur"))`;
      return `    ${pattern}) ${reply}; return ;;`;
    });

/** Subcommands and options. Where an argument can be a file, options follow only after a hyphen. */
function wordCases({ path, subcommands, options, takesArgument, argumentChoices }: DescribedCommand): string[] {
  const flags = options.flatMap(({ names }) => names).join(' ');
  const others = [...subcommands.map(({ name }) => name), ...argumentChoices].join(' ');
  const plain = others !== '' || takesArgument ? others : flags;
  return [`    '${path}') words='${plain}'; [[ $cur == -* ]] && words='${flags}' ;;`];
}
