import { InterruptedError } from '../error.ts';

/**
 * Runs a command with a signal that Ctrl-C and SIGTERM abort. The command can remove what it has
 * half written; then this throws `InterruptedError`.
 */
export async function runInterruptibly<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (signal: 'SIGINT' | 'SIGTERM') => controller.abort(new InterruptedError(signal));
  // a terminal sends SIGINT to the launcher too, which passes it on: the second one changes nothing
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    return await run(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
