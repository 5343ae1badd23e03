import { InterruptedError } from '../error.ts';

/**
 * Runs a command with a signal that Ctrl-C and SIGTERM abort, so that it can remove incomplete
 * files. Then throws `InterruptedError`.
 */
export async function runInterruptibly<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (signal: 'SIGINT' | 'SIGTERM') => controller.abort(new InterruptedError(signal));
  // SIGINT arrives twice, from the terminal and from the launcher: the second one has no effect
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    return await run(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
