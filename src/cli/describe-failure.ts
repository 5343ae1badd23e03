import { KeyError } from '../auth/error.ts';
import { ClientError } from '../auth/manage-clients.ts';
import { ImportError } from '../import/error.ts';
import { StorageError } from '../storage/error.ts';
import { CommandError, UsageError } from './error.ts';

const mendable = [UsageError, CommandError, StorageError, ImportError, ClientError, KeyError];

/**
 * The output for an error that aborts a command: the message if the user can fix it, otherwise the
 * stack.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return mendable.some((kind) => error instanceof kind) ? error.message : (error.stack ?? error.message);
}
