import { SyncError } from './error.ts';

/** How far the clock of another machine may be ahead, in milliseconds. */
const clockMsMax = 300_000;

/** Whether an instant, ISO 8601, is in the future: a clock was ahead when it was written. */
export const isYetToCome = (instant: string, now = Date.now()): boolean => Date.parse(instant) > now + clockMsMax;

/**
 * Throws if a run is of an instant that is yet to come by the clock of the service, if it sends
 * that: the clock of this machine is ahead, and older files would be removed too early.
 */
export function requireNotYetToCome(scheduledFor: Date, headers: Headers): void {
  const date = headers.get('date') ?? '';
  if (!isYetToCome(scheduledFor.toISOString(), Date.parse(date))) return;
  throw new SyncError(
    'DESTINATION_INVALID',
    `Cannot write a file for ${scheduledFor.toISOString()}: no run may be of an instant that is yet to come; set the clock of this machine: the service says that it is ${new Date(date).toISOString()}`,
  );
}
