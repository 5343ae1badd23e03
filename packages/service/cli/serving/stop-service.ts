import type { Server } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import type { Store } from '../../storage/store.ts';
import type { Config } from '../config.ts';
import type { RunningService } from '../serve.ts';

/**
 * Time limit of a shutdown after its delay, in milliseconds; unfinished requests are then aborted.
 */
export const stopMsMax = 15_000;
/**
 * Minimum time, in milliseconds, for requests that were sent before the signal: closing the
 * listener immediately would reset their connections.
 */
const settleMs = 250;

/** Maximum wait for incoming connections, in milliseconds. */
const acceptMsMax = 5_000;

/** Milliseconds between checks for idle keep-alive connections. */
const idleMs = 100;

interface ServedStore {
  readonly service: RunningService;
  readonly store: Store;
  readonly config: Config;
  readonly logger: Logger;
}

/** Delay before a shutdown, in milliseconds. */
export const stopDelayMs = ({ SHUTDOWN_DELAY_SECONDS }: Config): number =>
  Math.max(settleMs, SHUTDOWN_DELAY_SECONDS * 1000);

/**
 * Finishes the requests in progress, then closes the service and its store. Exits the process if
 * this takes too long, as for a client that does not read its export; that is no failure.
 */
export async function stopService({ service, store, config, logger }: ServedStore): Promise<void> {
  service.drain();
  await sleep(stopDelayMs(config));
  setTimeout(() => {
    logger.warn('unfinished requests are aborted: the time of the shutdown is over');
    process.exit(0);
  }, stopMsMax).unref();
  const apps = [service.app, ...(service.management === undefined ? [] : [service.management])];
  await Promise.all(apps.map(({ server }) => acceptWaiting(server)));
  const sweeping = setInterval(() => {
    // including those that were busy when closing began
    for (const { server } of apps) server.closeIdleConnections();
  }, idleMs);
  await Promise.all(apps.map((app) => app.close()));
  clearInterval(sweeping);
  await store.close();
  logger.info('stopped');
}

/**
 * Waits until the backlog is empty. Under load, connections wait in the kernel, each turn of the
 * event loop accepts some of them, and closing the listener would reset the others. The wait is
 * limited because there may be no load balancer to divert new connections.
 */
async function acceptWaiting(server: Server): Promise<void> {
  let accepted = true;
  const count = () => {
    accepted = true;
  };
  server.on('connection', count);
  for (const deadline = performance.now() + acceptMsMax; accepted && performance.now() < deadline; ) {
    accepted = false;
    await turn(); // the event loop polls for new connections before each
    await turn();
  }
  server.off('connection', count);
}

interface SignalActions {
  /** On the first SIGTERM or SIGINT, and on SIGHUP where it says that the terminal was closed. */
  readonly stop: (signal: NodeJS.Signals) => void;
  /** On the second one. */
  readonly endNow: () => never;
  /** On SIGHUP otherwise. */
  readonly reread: () => void;
}

export function onSignals(config: Config, { stop, endNow, reread }: SignalActions): void {
  const signals: NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
  if (stopsOnHangup(config)) signals.push('SIGHUP');
  else process.on('SIGHUP', reread);
  for (const signal of signals)
    process.once(signal, () => {
      for (const each of signals) process.removeAllListeners(each).once(each, endNow);
      stop(signal);
    });
}

/** Whether SIGHUP says that the terminal was closed: there is one, and nothing to read again. */
const stopsOnHangup = (config: Config): boolean =>
  isatty(0) && config.TLS_CERT_FILE === '' && config.MANAGEMENT_TLS_CERT_FILE === '';
