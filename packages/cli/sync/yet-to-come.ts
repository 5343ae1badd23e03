/** How far the clock of another machine may be ahead, in milliseconds. */
const clockMsMax = 300_000;

/** Whether an instant, ISO 8601, is in the future: a clock was ahead when it was written. */
export const isYetToCome = (instant: string, now = Date.now()): boolean => Date.parse(instant) > now + clockMsMax;
