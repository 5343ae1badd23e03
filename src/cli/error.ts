/**
 * A command that was used wrongly: bad arguments or settings. Ends the process with 2 after its
 * sentence.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * A command that could not do its work for a reason that its user can mend. Ends the process with 1
 * after its sentence.
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
