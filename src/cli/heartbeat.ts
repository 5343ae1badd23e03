import type { Worker } from 'node:cluster';
import type { PrimaryMessage, WorkerMessage } from './worker-messages.ts';

/**
 * Longest time that a worker's event loop may be blocked, in milliseconds: no request may take that
 * long.
 */
export const silenceMsMax = 10_000;

/** Pings sent in that time; each response proves that the worker's event loop runs. */
const pingsMax = 10;

/**
 * Pings a worker regularly and calls `onSilent` once if too many pings stay without a response.
 * Pings are counted rather than time, so that a pause of this process, which also delays the
 * responses, does not count against the worker.
 */
export function watchHeartbeat(
  worker: Worker,
  silenceMs: number,
  send: (message: PrimaryMessage) => void,
  onSilent: () => void,
): void {
  let unanswered = 0;
  worker.on('message', ({ kind }: WorkerMessage) => {
    if (kind === 'alive') unanswered = 0;
  });
  const timer = setInterval(() => {
    if (unanswered === pingsMax) {
      clearInterval(timer);
      onSilent();
      return;
    }
    unanswered += 1;
    send({ kind: 'alive?' });
  }, silenceMs / pingsMax);
  worker.once('exit', () => clearInterval(timer));
}
