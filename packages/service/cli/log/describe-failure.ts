import { CommandError, UsageError } from '../../../terminal/error.ts';
import { ClientError, KeyError } from '../../auth/error.ts';
import { ImportError } from '../../import/error.ts';
import { OperatorError } from '../../operator/error.ts';
import { StorageError } from '../../storage/error.ts';
import type { Config } from '../config.ts';

const userErrors = [UsageError, CommandError, StorageError, ImportError, ClientError, KeyError, OperatorError];

/**
 * Describes an error that stops a command: its message if the user can fix it, otherwise its stack.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorError && error.hint !== undefined) return `${error.message}; ${error.hint}`;
  return userErrors.some((kind) => error instanceof kind) ? error.message : (error.stack ?? error.message);
}

/**
 * Converts an error of listening to a `CommandError` with a remedy; returns other errors unchanged.
 */
export function listenFailure(error: unknown, config: Config, prefix: '' | 'MANAGEMENT_' = ''): unknown {
  const { [`${prefix}HOST` as const]: host, [`${prefix}PORT` as const]: port } = config;
  const { code } = error as NodeJS.ErrnoException;
  const remedy = {
    EADDRINUSE: `the port must be free; stop what uses it, or set ${prefix}PORT to another one, such as ${prefix}PORT=${(port % 65_535) + 1}`,
    EACCES: `this user must be allowed to use the port; set ${prefix}PORT to one above 1023`,
    EADDRNOTAVAIL: `${prefix}HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0`,
    ENOTFOUND: `${prefix}HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0`,
  }[code ?? ''];
  return remedy === undefined ? error : new CommandError(`Cannot listen on ${host}:${port}: ${remedy} (${code})`);
}
