import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { osUser } from './os-user.ts';
import type { Output } from './output.ts';

/** Commands that change nothing in the store; `serve` has its own log. */
const notAudited = [
  ...['serve', 'config', 'audit', 'tenant list', 'keys list', 'operator list'],
  ...['imports list', 'imports show', 'imports errors'],
  ...['client list', 'client show', 'client sessions', 'completion'],
  ...['login', 'logout', 'whoami', 'list', 'show', 'export', 'summary', 'changes', 'token'],
];

/** A command as it appears in the audit file. */
interface AuditedCommand {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly options: object;
}

/**
 * Appends a line to `AUDIT_FILE` for each command that may have changed something, with its user
 * and result. Secrets are never command arguments.
 */
export class CommandAudit {
  readonly #output: Output;
  readonly #started = performance.now();
  #command: AuditedCommand | undefined;
  #clientId: string | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Records the command that is about to run. */
  begin(command: Command): void {
    const name = nameOf(command);
    const options = command.opts();
    const changesNothing = notAudited.includes(name) || (name === 'generate' && 'output' in options);
    if (!changesNothing) this.#command = { command: name, arguments: command.args, options };
  }

  /** Records the client that a command created or changed; its id may have been generated. */
  noteResult(result: unknown): void {
    const { client_id: clientId } = (result ?? {}) as { client_id?: unknown };
    if (typeof clientId === 'string') this.#clientId = clientId;
  }

  /**
   * Writes the line, unless the usage was invalid and nothing was done. If the file cannot be
   * written, prints an error and continues.
   */
  async end(exitCode: number): Promise<void> {
    if (this.#command === undefined || exitCode === 2) return;
    const line = {
      level: 'info',
      time: new Date(),
      service: 'subreport',
      msg: 'command',
      ...this.#command,
      ...(this.#clientId !== undefined && { client_id: this.#clientId }),
      os_user: osUser(),
      exit_code: exitCode,
      duration_ms: Math.round(performance.now() - this.#started),
    };
    try {
      await appendLine(`${JSON.stringify(line)}\n`);
    } catch (error) {
      if (exitCode !== 0) return; // the command has already printed its error
      const { code, message } = error as NodeJS.ErrnoException;
      this.#output.stderr.write(
        `Cannot write the audit line: AUDIT_FILE must be a file that this user can write: ${code ?? message}; the command itself has succeeded\n`,
      );
    }
  }
}

async function appendLine(line: string): Promise<void> {
  // imported here, because commands that change nothing start in half the CPU time without it
  const { readConfig } = await import('./config.ts');
  const { AUDIT_FILE, DATA_DIR } = readConfig();
  const file = AUDIT_FILE === '' ? join(DATA_DIR, 'audit.log') : AUDIT_FILE;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  appendFileSync(file, line, { mode: 0o600 });
}

const nameOf = (command: Command): string =>
  command.parent === null ? '' : `${nameOf(command.parent)} ${command.name()}`.trim();
