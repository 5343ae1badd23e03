import { ClientError, KeyError } from '../auth/error.ts';
import { ImportError } from '../import/error.ts';
import { OperatorError } from '../operator/error.ts';
import { StorageError } from '../storage/error.ts';
import { CommandError, UsageError } from './error.ts';

const userErrors = [UsageError, CommandError, StorageError, ImportError, ClientError, KeyError, OperatorError];

/**
 * Describes an error that stops a command: its message if the user can fix it, otherwise its stack.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorError && error.hint !== undefined) return `${error.message}; ${error.hint}`;
  return userErrors.some((kind) => error instanceof kind) ? error.message : (error.stack ?? error.message);
}
