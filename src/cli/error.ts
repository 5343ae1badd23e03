/** Invalid arguments or settings. The process prints the message and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failure that the user can fix. The process prints the message and exits with 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
