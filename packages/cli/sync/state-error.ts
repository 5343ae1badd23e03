import { SyncError } from './error.ts';
import { diskRule, StateFileError } from './state-file.ts';

/** What the sentences about a state file say. */
interface StateUse {
  /** How they begin, such as "Cannot use 'webhook.db'". */
  readonly cannot: string;
  /** Which other syncs use the file, such as "of this webhook". */
  readonly others: string;
  /** Which syncs write such a file. */
  readonly writers: string;
  readonly example: string;
}

/** Runs work on a state file; an error of the file is thrown as `SyncError`. */
export function withStateErrors<T>(use: StateUse, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    const [code, rule] = faultOf(error, use);
    throw new SyncError(code, `${use.cannot}: ${rule}`, { cause: error });
  }
}

function faultOf({ code, message }: StateFileError, { others, writers, example }: StateUse) {
  switch (code) {
    case 'BUSY':
      return ['DESTINATION_BUSY', `no other sync ${others} may be running; try again when it has ended`] as const;
    case 'DISK':
      return ['DESTINATION_FAILED', diskRule(message)] as const;
    case 'UNUSABLE': {
      const rule = `it must be a state file that a sync ${writers} wrote, or not exist, such as --state ${example}`;
      return ['DESTINATION_INVALID', `${rule}: current value is: ${message}`] as const;
    }
  }
}
