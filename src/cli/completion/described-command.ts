import type { Command, Option } from 'commander';

/** What shells complete of a command. */
export interface DescribedCommand {
  /** `tenant create`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly DescribedOption[];
  /** Whether it takes an argument, which is completed as a file. */
  readonly takesArgument: boolean;
  /** The words that its argument may be. */
  readonly argumentChoices: readonly string[];
}

/** What shells complete of an option. */
export interface DescribedOption {
  /** `--output`, and `-o` if there is one. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** Describes a command and its subcommands, in depth-first order. */
export function describeCommands(command: Command, path = ''): readonly DescribedCommand[] {
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
