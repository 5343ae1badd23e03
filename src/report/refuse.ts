import { type Fault, faultSentence } from '../contract/problem.ts';
import { ReportError } from './error.ts';

/**
 * The most faults that one response lists: each takes up to 1 KB, and 8 KB of query string can hold
 * 2,000.
 */
const faultsMax = 32;

/**
 * Fails with every fault that was found, if any; `unreadable` when one of them is about how a value
 * is written.
 */
export function refuse(faults: readonly Fault[], unreadable: boolean): void {
  if (faults.length === 0) return;
  const listed = faults.slice(0, faultsMax);
  throw new ReportError(
    unreadable ? 'INVALID_HTTP_MESSAGE' : 'INVALID_REQUEST_PARAMS',
    [...listed.map(faultSentence), ...describeRest(faults.length)],
    listed,
  );
}

const describeRest = (count: number): string[] =>
  count > faultsMax ? [`Cannot list every fault: at most ${faultsMax} are listed: current value is ${count}`] : [];
