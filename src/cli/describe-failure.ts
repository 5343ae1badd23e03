import { KeyError } from '../auth/error.ts';
import { ClientError } from '../auth/manage-clients.ts';
import { ImportError } from '../import/error.ts';
import { StorageError } from '../storage/error.ts';
import { CommandError, UsageError } from './error.ts';

const mendable = [UsageError, CommandError, StorageError, ImportError, ClientError, KeyError];

/**
 * What is said of an error that ends a command: the sentence of one that its user can mend, the
 * stack of any other.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return mendable.some((kind) => error instanceof kind) ? error.message : (error.stack ?? error.message);
}
