import { InvalidArgumentError } from 'commander';

/** Parses an option of seconds. */
export function readSeconds(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError(
    `it must be a number of seconds from 1 to 99999, such as 10: current value is '${text}'`,
  );
}
