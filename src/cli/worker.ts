import cluster from 'node:cluster';
import { readConfig } from './config.ts';
import { describeFailure } from './describe-failure.ts';
import { createLogger } from './logger.ts';
import { serve } from './serve.ts';
import { onStopSignal, stopService } from './stop-service.ts';
import { logStoreEvents, openReadyStore } from './store-session.ts';
import { askForCounters, type PrimaryChannel, type PrimaryMessage, type WorkerMessage } from './worker-messages.ts';

// One process of `subreport serve --workers N`, started by the first one (`workers.ts`), which has
// brought the store up to date and tells what is wrong. When the first process is gone, so is the
// channel to it, and Node ends this one.

/**
 * With SO_REUSEPORT the kernel spreads connections over the workers, and what one of them does
 * cannot keep another one's waiting. Where there is none (macOS, Windows), the first process
 * accepts for all and hands over one connection at a time.
 */
const canReusePort = process.platform === 'linux';
const poolSize = Number(process.argv[2]);
const channel: PrimaryChannel = {
  send: (message: WorkerMessage) => void process.send?.(message),
  on: (event, listener) => process.on(event, (message) => listener(message as PrimaryMessage)),
};
let stop = (): void => process.exit(0); // told to stop before it serves: nothing is under way
channel.on('message', ({ kind }) => {
  if (kind === 'drain') stop();
  if (kind === 'alive?') channel.send({ kind: 'alive' });
});
try {
  await serveAsWorker();
  channel.send({ kind: 'serving' });
} catch (error) {
  // the first process ends this one once it has heard why
  channel.send({ kind: 'failed', message: describeFailure(error) });
}

async function serveAsWorker(): Promise<void> {
  const config = { ...readConfig(), DATABASE_POOL_SIZE: poolSize, MIGRATE_ON_START: 'false' } as const;
  const logger = createLogger(config.LOG_LEVEL, { worker: cluster.worker?.id ?? 0, pid: process.pid });
  const store = await openReadyStore(config, ...logStoreEvents(logger));
  const service = await serve(config, store, logger, { counters: askForCounters(channel), reusePort: canReusePort });
  let stopping = false;
  stop = () => {
    if (stopping) return;
    stopping = true;
    void stopService({ service, store, config, logger }).then(() => process.exit(0));
  };
  // Signals reach a worker too: from a terminal or a service manager that sends them to all
  // processes, or from somebody who wants this one replaced.
  onStopSignal(stop, () => process.exit(1));
}
