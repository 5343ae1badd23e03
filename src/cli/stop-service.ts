import type { Server } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Store } from '../storage/store.ts';
import type { Config } from './config.ts';
import type { RunningService } from './serve.ts';

/**
 * How long a stop may take after its delay, in milliseconds; what is still under way then is cut
 * off.
 */
export const stopMsMax = 15_000;
/**
 * Least time for requests that were sent before the signal and were not read yet: a listener that
 * closes at once resets their connections.
 */
const settleMs = 250;

/** Longest wait for connections that are still coming in, in milliseconds. */
const acceptMsMax = 5_000;

/**
 * Time between two looks for connections that are kept open by clients and not needed any more, in
 * milliseconds.
 */
const idleMs = 100;

/** What is to be stopped. */
interface ServedStore {
  readonly service: RunningService;
  readonly store: Store;
  readonly config: Config;
  readonly logger: Logger;
}

/** Time that a stop leaves to requests on their way, in milliseconds. */
export const stopDelayMs = ({ SHUTDOWN_DELAY_SECONDS }: Config): number =>
  Math.max(settleMs, SHUTDOWN_DELAY_SECONDS * 1000);

/**
 * Answers what is under way, then closes the service and its store; too long a wait ends the
 * process.
 */
export async function stopService({ service, store, config, logger }: ServedStore): Promise<void> {
  service.drain();
  await sleep(stopDelayMs(config));
  setTimeout(() => {
    logger.error('the shutdown took too long; unfinished requests are aborted');
    process.exit(1);
  }, stopMsMax).unref();
  const apps = [service.app, ...(service.management === undefined ? [] : [service.management])];
  await Promise.all(apps.map(({ server }) => acceptWaiting(server)));
  const sweeping = setInterval(() => {
    // those too that were busy when the closing began
    for (const { server } of apps) server.closeIdleConnections();
  }, idleMs);
  await Promise.all(apps.map((app) => app.close()));
  clearInterval(sweeping);
  await store.close();
  logger.info('stopped');
}

/**
 * Waits until no connection comes in any more: under load they wait in the kernel, a turn of the
 * event loop takes in some of them, and a listener that closes resets the others. Bounded, as there
 * may be no load balancer that sends new ones elsewhere.
 */
async function acceptWaiting(server: Server): Promise<void> {
  let accepted = true;
  const count = () => {
    accepted = true;
  };
  server.on('connection', count);
  for (const deadline = performance.now() + acceptMsMax; accepted && performance.now() < deadline; ) {
    accepted = false;
    await turn(); // the event loop asks for new connections before each
    await turn();
  }
  server.off('connection', count);
}

/**
 * Calls `stop` at the first SIGTERM, SIGINT or SIGHUP (the terminal is gone), and `endNow` at a
 * second one.
 */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void, endNow: () => never): void {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const signal of signals)
    process.once(signal, () => {
      for (const each of signals) process.removeAllListeners(each).once(each, endNow);
      stop(signal);
    });
}
