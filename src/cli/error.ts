/**
 * A command that was used incorrectly: invalid arguments or settings. The process prints its
 * message and exits with 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failure that the user can fix. The process prints its message and exits with 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
