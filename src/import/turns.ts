import { setImmediate } from 'node:timers/promises';

/**
 * Longest time in milliseconds that rows are processed without yielding to the event loop, because
 * a service that imports must also serve other requests.
 */
const turnMsMax = 10;

/**
 * Returns a function to call between rows: a promise if it is time to yield to the event loop.
 * Otherwise, the rows of one chunk would follow each other without yielding.
 */
export function createTurns(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began <= turnMsMax) return undefined;
    return setImmediate().then(() => {
      began = performance.now();
    });
  };
}
