import { InvalidArgumentError } from 'commander';

/** Makes the parser of an option that is an integer from `min` to `max`. */
export const integerFrom =
  (min: number, max: number, example: number) =>
  (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}, such as ${example}`);
  };
