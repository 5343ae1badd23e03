import { describeFaults } from '../contract/parameter-faults.ts';
import type { Fault } from '../contract/problem.ts';
import { ReportError } from './error.ts';

/**
 * Throws `ReportError` with every fault of a query, if there is one; `unreadable` says that a value
 * could not be decoded.
 */
export function refuse(faults: readonly Fault[], unreadable: boolean): void {
  if (faults.length === 0) return;
  const { code, messages, faults: listed } = describeFaults(faults, unreadable);
  throw new ReportError(code, messages, listed);
}
