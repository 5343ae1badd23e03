import type { DescribedCommand, DescribedOption } from './described-command.ts';

/** Returns a completion script for fish 3 and later. */
export function fishCompletion(commands: readonly DescribedCommand[]): string {
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
  const start = `complete -c subreport -n ${quote(`__subreport_is '${path}'`)}`;
  const words = [...subcommands, ...argumentChoices.map((name) => ({ name, description: name }))];
  return [
    ...(takesArgument && argumentChoices.length === 0 ? [] : [`${start} -f`]),
    ...words.map(({ name, description }) => `${start} -a ${name} -d ${quote(description)}`),
    ...options.map((option) => `${start} ${optionArguments(option)}`),
  ];
}

function optionArguments({ names, description, takesValue, choices }: DescribedOption): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = choices.length > 0 ? [`-x -a ${quote(choices.join(' '))}`] : takesValue ? ['-r'] : [];
  return [...flags, ...value, `-d ${quote(description)}`].join(' ');
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
