import cluster from 'node:cluster';
import type { MetricValues } from '../../metrics/metric-values.ts';
import { readConfig } from '../config.ts';
import { describeFailure } from '../log/describe-failure.ts';
import { createLogger } from '../log/logger.ts';
import { serve } from '../serve.ts';
import { logStoreEvents, openReadyStore } from '../store/store-session.ts';
import { onSignals, stopService } from './stop-service.ts';
import { callPrimary, type PrimaryChannel, type PrimaryMessage, type WorkerMessage } from './worker-messages.ts';

// One process of `subreport serve --workers N`, started by the first process (`workers.ts`), which
// has migrated the store and reports its problems. If the first process exits, the channel closes
// and Node.js stops this process.

/**
 * With SO_REUSEPORT, the kernel distributes connections over the workers, and a busy worker delays
 * no connection of another. Without it (macOS, Windows), the first process accepts all connections
 * and hands them over one at a time.
 */
const canReusePort = process.platform === 'linux';
const poolSize = Number(process.argv[2]);
const channel: PrimaryChannel = {
  send: (message: WorkerMessage) => void process.send?.(message),
  on: (event, listener) => process.on(event, (message) => listener(message as PrimaryMessage)),
};
let readMetrics: (() => Promise<MetricValues>) | undefined;
let stop = (): void => process.exit(0); // stopped before it serves: no requests in progress
channel.on('message', ({ kind }) => {
  if (kind === 'drain') stop();
  if (kind === 'alive?') channel.send({ kind: 'alive' });
  if (kind === 'metrics?') void readMetrics?.().then((metrics) => channel.send({ kind: 'metrics', metrics }));
});
try {
  await serveAsWorker();
  channel.send({ kind: 'serving' });
} catch (error) {
  // the first process stops this one after it has received the reason
  channel.send({ kind: 'failed', message: describeFailure(error) });
}

async function serveAsWorker(): Promise<void> {
  const config = { ...readConfig(), DATABASE_POOL_SIZE: poolSize, MIGRATE_ON_START: 'false' } as const;
  const logger = createLogger(config, { worker: cluster.worker?.id ?? 0, pid: process.pid });
  const store = await openReadyStore(config, logStoreEvents(logger));
  const service = await serve(config, store, logger, {
    ...callPrimary(channel),
    reusePort: canReusePort,
  });
  readMetrics = service.metrics?.values;
  let stopping = false;
  stop = () => {
    if (stopping) return;
    stopping = true;
    channel.send({ kind: 'draining' });
    void stopService({ service, store, config, logger })
      .then(() => service.metrics?.counts())
      // the last requests would be missing in the sums of all workers
      .then((metrics = []) => new Promise((sent) => process.send?.({ kind: 'metrics', metrics }, sent)))
      .then(() => process.exit(0));
  };
  // Workers receive signals too: from a terminal or a service manager that sends them to all
  // processes, or to replace this worker.
  onSignals(config, { stop, endNow: () => process.exit(1), reread: service.rereadCertificates });
}
