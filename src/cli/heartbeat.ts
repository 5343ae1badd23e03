import type { Worker } from 'node:cluster';
import type { PrimaryMessage, WorkerMessage } from './worker-messages.ts';

/**
 * Longest time for which the event loop of a worker may stand still, in milliseconds: no request
 * waits as long.
 */
export const silenceMsMax = 10_000;

/** Questions in that time; each that is answered shows a turn of the worker's event loop. */
const questions = 10;

/**
 * Asks a worker again and again whether its event loop turns, and calls `onSilent` once when that
 * many questions are left without an answer. Questions are counted rather than time, so that a
 * pause of the asking process, which holds up the answers too, is not held against the worker.
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
    if (unanswered === questions) {
      clearInterval(timer);
      onSilent();
      return;
    }
    unanswered += 1;
    send({ kind: 'alive?' });
  }, silenceMs / questions);
  worker.once('exit', () => clearInterval(timer));
}
