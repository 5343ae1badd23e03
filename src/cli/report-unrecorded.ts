import { describeFailure } from './describe-failure.ts';
import type { Output } from './output.ts';

/** Prints that the history lacks the result; the import itself has ended. */
export const reportUnrecorded = (output: Output) => (error: unknown) => {
  output.stderr.write(`Cannot store the result in the history of imports: ${describeFailure(error)}\n`);
};
