import { Command, CommanderError } from 'commander';
import { CommandError, InterruptedError, TemporaryError, UsageError } from './error.ts';
import type { Output } from './output.ts';
import { packageVersion } from './package-version.ts';

type AddCommand = (program: Command, output: Output) => void;

/** Commands by name. The module of each is imported only when its command runs. */
export type Commands = Readonly<Record<string, () => Promise<AddCommand>>>;

/** Commands by the heading of their group, in the order of the help. */
export type CommandGroups = readonly (readonly [heading: string, commands: Commands])[];

/** What a program prints about an error, and its exit code then. */
interface Failure {
  readonly message: string;
  readonly exitCode: number;
}

/** A program whose first argument is a command. */
export interface CommandLine {
  readonly description: string;
  /** What follows its help. */
  readonly notes: string;
  readonly groups: CommandGroups;
  readonly failureOf: (error: unknown) => Failure;
}

/** Exit codes of all programs, for their help. */
export const exitCodes =
  'Exit codes: 0 success, 1 failure, 2 invalid usage, 75 temporary failure, 130 stopped by Ctrl-C.';

/** A program without commands: its version, and how it writes help and errors. */
export function newProgram(name: string, output: Output): Command {
  const program = new Command(name).version(packageVersion).showSuggestionAfterError();
  return program.exitOverride().configureOutput({
    writeOut: (text) => output.stdout.write(text),
    writeErr: (text) => output.stderr.write(text),
  });
}

/** The program `subreport` with the commands of these names; by default, all. */
export async function buildCommandLine(
  { description, notes, groups }: CommandLine,
  output: Output,
  names = Object.keys(commandsOf(groups)),
): Promise<Command> {
  const program = newProgram('subreport', output).description(description).addHelpText('after', `\n${notes}`);
  for (const [heading, group] of groups) {
    program.commandsGroup(heading);
    for (const name of names) (await group[name]?.())?.(program, output);
  }
  program.commandsGroup(groups[0]?.[0] ?? '').helpCommand('help [command]');
  inheritSettings(program);
  return program;
}

/** Runs the command that the arguments name, and returns the exit code. */
export async function runCommandLine(line: CommandLine, argv: readonly string[], output: Output): Promise<number> {
  const program = await buildCommandLine(line, output, namesFor(commandsOf(line.groups), argv));
  return runProgram(program, argv, output, line.failureOf);
}

/**
 * Runs a program and returns the exit code. Prints the message of an error that the user can fix,
 * and the stack of any other.
 */
export async function runProgram(
  program: Command,
  argv: readonly string[],
  output: Output,
  failureOf: (error: unknown) => Failure,
): Promise<number> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof InterruptedError) return error.exitCode;
    const { message, exitCode } = failureOf(error);
    output.stderr.write(`${message}\n`);
    return exitCode;
  }
}

/** The message of an error that the user can fix, and the stack of any other. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), exitCode: 1 };
  if (error instanceof TemporaryError) return { message: error.message, exitCode: 75 };
  if (error instanceof UsageError) return { message: error.message, exitCode: 2 };
  return { message: error instanceof CommandError ? error.message : (error.stack ?? error.message), exitCode: 1 };
}

const commandsOf = (groups: CommandGroups): Commands =>
  Object.assign({}, ...groups.map(([, commands]) => commands)) as Commands;

/** The commands that a command line needs: the one it names or, for help and errors, all. */
function namesFor(commands: Commands, argv: readonly string[]): string[] | undefined {
  const [name = ''] = argv;
  if (name === '--version' || name === '-V') return [];
  return Object.hasOwn(commands, name) ? [name] : undefined;
}

/**
 * Copies the exit and output settings of a command to its subcommands, which do not inherit
 * settings made after they were added.
 */
function inheritSettings(command: Command, path = command.name()): void {
  command.showHelpAfterError(`(${hintOf(command, path)})`);
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    // not in the group of the program's
    if (child.commands.length > 0) child.helpCommand('help [command]');
    inheritSettings(child, `${path} ${child.name()}`);
  }
}

/** Most commands that an error lists. */
const commandsMax = 12;

/** What a command with a mistake in its words can be instead. */
const hintOf = ({ commands }: Command, path: string): string =>
  commands.length === 0 || commands.length > commandsMax
    ? `${commands.length === 0 ? 'Options' : 'Commands'}: ${path} --help`
    : `Commands of ${path}: ${commands.map((child) => child.name()).join(', ')}`;
