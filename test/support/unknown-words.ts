import type { Command } from 'commander';

/** The words of a command line that are no command or no option of it. */
export function unknownWords(program: Command, words: readonly string[]): string[] {
  let command = program;
  let rest = words;
  for (let next: Command | undefined = program; next !== undefined && rest.length > 0; ) {
    next = command.commands.find((child) => child.name() === rest[0]);
    if (next !== undefined) [command, rest] = [next, rest.slice(1)];
  }
  const { _defaultCommandName: usual } = command as { readonly _defaultCommandName?: string | null };
  command = command.commands.find((child) => child.name() === usual) ?? command;
  const names = [...program.options, ...command.options].flatMap(({ long, short }) => [long, short]);
  const flags = rest.filter((word) => /^(?:--[a-z]|-[a-z](?:=|$))/.test(word)).map((word) => word.split('=')[0] ?? '');
  const unknown = flags.filter((flag) => !names.includes(flag) && flag !== '--help');
  return command.commands.length > 0 && rest.length > 0 && command !== program ? [...unknown, rest[0] ?? ''] : unknown;
}
