/** Milliseconds between two readings of a list that may have running imports. */
export const runningPollMs = 5_000;
