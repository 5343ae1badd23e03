import { appendFileSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from './config.ts';
import type { Output } from './output.ts';

/** Commands that change nothing in the store; `serve` has a log of its own. */
const notAudited = [
  ...['serve', 'config', 'audit', 'tenant list', 'keys list'],
  ...['client list', 'client show', 'client sessions'],
];

/** A command line as its line in the audit file describes it. */
interface AuditedCommand {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly options: object;
}

/**
 * Writes a line into `AUDIT_FILE` for each command that may have changed something: who ran what,
 * and how it ended. No secret is an argument of a command.
 */
export class CommandAudit {
  readonly #output: Output;
  readonly #started = performance.now();
  #command: AuditedCommand | undefined;
  #clientId: string | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Notes the command that is about to run. */
  begin(command: Command): void {
    const name = nameOf(command);
    const options = command.opts();
    const changesNothing = notAudited.includes(name) || (name === 'generate' && 'output' in options);
    if (!changesNothing) this.#command = { command: name, arguments: command.args, options };
  }

  /**
   * Notes the client that a command made or changed, which may have been named by the command
   * itself.
   */
  noteResult(result: unknown): void {
    const { client_id: clientId } = (result ?? {}) as { client_id?: unknown };
    if (typeof clientId === 'string') this.#clientId = clientId;
  }

  /**
   * Writes the line, unless the command was used wrongly and did nothing. A file that cannot be
   * written is told, and changes nothing else.
   */
  end(exitCode: number): void {
    if (this.#command === undefined || exitCode === 2) return;
    const line = {
      level: 'info',
      time: new Date(),
      service: 'subreport',
      msg: 'command',
      ...this.#command,
      ...(this.#clientId !== undefined && { client_id: this.#clientId }),
      os_user: userOf(),
      exit_code: exitCode,
      duration_ms: Math.round(performance.now() - this.#started),
    };
    try {
      appendLine(`${JSON.stringify(line)}\n`);
    } catch (error) {
      if (exitCode !== 0) return; // the command itself has said what is wrong
      const { code, message } = error as NodeJS.ErrnoException;
      this.#output.stderr.write(
        `Cannot write the audit line: AUDIT_FILE must be a file that this user can write: ${code ?? message}; the command itself has succeeded\n`,
      );
    }
  }
}

function appendLine(line: string): void {
  const { AUDIT_FILE, DATA_DIR } = readConfig();
  const file = AUDIT_FILE === '' ? join(DATA_DIR, 'audit.log') : AUDIT_FILE;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  appendFileSync(file, line, { mode: 0o600 });
}

const nameOf = (command: Command): string =>
  command.parent === null ? '' : `${nameOf(command.parent)} ${command.name()}`.trim();

/** The name of the user that runs the command, or its number where it has no name. */
function userOf(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
