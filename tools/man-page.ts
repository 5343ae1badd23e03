import type { Command } from 'commander';

/** Returns the manual page of a program (man(7)), with a subsection for each of its commands. */
export function manPage(program: Command): string {
  const help = program.createHelp();
  const lines = [
    '.\\" written by npm run pack',
    `.TH ${program.name().toUpperCase()} 1 "" "${program.name()}" "User Commands"`,
    '.SH NAME',
    troff(`${program.name()} - ${lowerFirst(program.description()).replace(/\.$/, '')}`),
    '.SH SYNOPSIS',
    `.B ${program.name()}`,
    program.commands.length === 0 ? '[\\fIoptions\\fR]' : '[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]',
    '.SH OPTIONS',
    ...optionLines(program),
    ...groupsOf(program).flatMap(([heading, commands]) => [
      `.SH ${heading.replace(/:$/, '').toUpperCase()}`,
      ...commands.flatMap((command) => commandLines(command, '')),
    ]),
    ...closing,
    ...(program.commands.some((command) => command.name() === 'config') ? [settings] : []),
    ...files,
  ];
  return `${lines.join('\n')}\n`;

  function groupsOf({ commands }: Command): [heading: string, commands: Command[]][] {
    const headings = [...new Set(commands.map((command) => command.helpGroup()))];
    return headings.map((heading) => [heading, commands.filter((command) => command.helpGroup() === heading)]);
  }

  function commandLines(command: Command, parent: string): string[] {
    const path = `${parent} ${command.name()}`.trim();
    if (command.commands.length > 0) return command.commands.flatMap((child) => commandLines(child, path));
    const words = command.registeredArguments.map((argument) => help.argumentTerm(argument));
    return [
      `.SS ${troff([path, ...words].join(' '))}`,
      troff(`${upperFirst(command.description())}.`),
      ...optionLines(command),
    ];
  }

  function optionLines(command: Command): string[] {
    return help
      .visibleOptions(command)
      .filter(({ long }) => command.parent === null || long !== '--help')
      .flatMap((option) => ['.TP', `.B ${troff(help.optionTerm(option))}`, troff(help.optionDescription(option))]);
  }
}

const closing = [
  '.SH EXIT STATUS',
  ...entries({
    0: 'Success.',
    1: 'Failure.',
    2: 'Invalid usage.',
    130: 'Stopped by Ctrl-C.',
  }),
  '.SH ENVIRONMENT',
  ...entries({
    'SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET':
      'Replace the profile of a command that reads reports.',
    SUBREPORT_PROFILE: 'The profile to use without --profile.',
    SUBREPORT_SERVER: "The URL of the operator's API for commands with --server.",
    'SUBREPORT_OPERATOR_TOKEN, SUBREPORT_OPERATOR_TOKEN_FILE':
      "The token for the operator's API, or a file that contains it.",
    'NO_COLOR, FORCE_COLOR': 'Disable or enable colors.',
  }),
];

const settings = troff("The settings of the service are environment variables, too: 'subreport config' lists them.");

const files = [
  '.SH FILES',
  ...entries({
    '$XDG_CONFIG_HOME/subreport/profiles/': 'The profiles, with their secrets (~/.config without XDG_CONFIG_HOME).',
    '$XDG_CONFIG_HOME/subreport/tokens/': 'The current tokens of the profiles.',
  }),
  '.SH SEE ALSO',
  'https://github.com/subreport/subreport/tree/main/docs',
];

function entries(texts: Readonly<Record<string, string>>): string[] {
  return Object.entries(texts).flatMap(([term, text]) => ['.TP', `.B ${troff(term)}`, troff(text)]);
}

/** Escapes what troff would interpret: backslashes, hyphens that are minus signs, and requests. */
function troff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
