import { setImmediate } from 'node:timers/promises';

/**
 * Longest time in milliseconds that rows are processed without yielding to the event loop, because
 * a service that imports must also serve other requests. One turn of the loop may contain it twice:
 * after bytes arrived, and after an import has waited.
 */
const turnMsMax = 5;

let began = performance.now();
let last: Promise<void> = Promise.resolve();

/**
 * Called between rows: a promise if it is time to yield to the event loop. All imports of a process
 * share the time of a turn: those that wait continue one after another, each in a turn of its own.
 */
export function endTurn(): Promise<void> | undefined {
  if (performance.now() - began <= turnMsMax) return undefined;
  last = last
    .then(() => setImmediate())
    .then(() => {
      began = performance.now();
    });
  return last;
}
