import type { DescribedCommand } from './described-command.ts';

/** Returns a completion script for zsh. */
export function zshCompletion(commands: readonly DescribedCommand[]): string {
  const lines = (format: (command: DescribedCommand) => readonly string[]) => commands.flatMap(format).join('\n');
  return `#compdef subreport
# zsh completion of subreport. In ~/.zshrc, after compinit: source <(subreport completion zsh)
_subreport() {
  local command= word
  local -a subcommands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$command $word" in
${lines(({ path, subcommands }) => subcommands.map(({ name }) => `      '${path} ${name}') command='${`${path} ${name}`.trim()}' ;;`))}
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${lines(valueCases)}
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

const valueCases = ({ path, options }: DescribedCommand): string[] =>
  options
    .filter(({ takesValue }) => takesValue)
    .map(({ names, choices }) => {
      const pattern = names.map((name) => `'${path} ${name}'`).join('|');
      return `    ${pattern}) ${choices.length === 0 ? '_files' : `compadd -- ${choices.join(' ')}`}; return ;;`;
    });

function itemCases({ path, subcommands, options, argumentChoices }: DescribedCommand): string[] {
  const words = [...subcommands, ...argumentChoices.map((name) => ({ name, description: name }))];
  const items = words.map(({ name, description }) => quote(`${name}:${description}`));
  const flags = options.flatMap(({ names, description }) => names.map((name) => quote(`${name}:${description}`)));
  return [`    '${path}') subcommands=(${items.join(' ')}); options=(${flags.join(' ')}) ;;`];
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
