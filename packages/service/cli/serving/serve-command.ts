import { type Command, InvalidArgumentError } from 'commander';
import type { Logger } from 'pino';
import type { Output } from '../../../terminal/output.ts';
import { openKeyRing } from '../../auth/keys/key-ring.ts';
import type { Store } from '../../storage/store.ts';
import { type Config, readConfig } from '../config.ts';
import { createLogger } from '../log/logger.ts';
import { keyRingOptions } from '../store/key-ring-options.ts';
import { logStoreEvents, openReadyStore } from '../store/store-session.ts';
import { announce, requireSecureTransport } from './announce.ts';
import { checkRegularly } from './check-store.ts';
import { demoConfig, prepareDemo, writeDemoClient } from './demo.ts';
import { planMemory, workersMax } from './plan-memory.ts';
import { rotateRegularly } from './rotate-regularly.ts';
import { onSignals, stopService } from './stop-service.ts';
import { sweepRegularly } from './sweep-regularly.ts';

interface ServeOptions {
  readonly demo?: boolean;
  readonly workers: number | 'auto';
  readonly json?: boolean;
}

export function addServeCommand(program: Command, output: Output): void {
  program
    .command('serve')
    .description('start the service')
    .option(
      '--demo',
      'serve 2,000 synthetic subscriptions of a tenant demo instead of your data; they are kept in DATA_DIR/demo-PORT',
    )
    .option(
      '--workers <n>',
      `number of worker processes, 1 to ${workersMax}, or auto for one per CPU, or fewer if the memory is not enough`,
      readWorkers,
      1,
    )
    .option('--json', 'print the details of the demo as one line of JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport serve --demo\n  subreport serve --workers auto\n  DATABASE_URL=postgres://subreport:secret@localhost/subreport HOST=0.0.0.0 PUBLIC_URL=https://reports.example.com subreport serve',
    )
    .action(async ({ demo = false, workers: wanted, json = false }: ServeOptions) => {
      const config = demo ? await demoConfig(readConfig()) : readConfig();
      requireSecureTransport(config);
      const { workers, totalMib, loweredFrom } = planMemory(config, wanted);
      const logger = createLogger(config);
      if (loweredFrom !== undefined)
        logger.warn({ workers, cpus: loweredFrom, memory_mib: totalMib }, 'fewer workers than CPUs: each needs memory');
      // with workers, this process reads and writes little
      const own = workers === 1 ? config : { ...config, DATABASE_POOL_SIZE: 1 };
      const open = () => openReadyStore(own, logStoreEvents(logger));
      const store = await open().catch(async (error) => {
        const { waitForStore } = await import('./wait-for-store.ts');
        return waitForStore(config, logger, open, error);
      });
      try {
        const demoClient = demo ? await prepareDemo(config, store) : undefined;
        const run = workers === 1 ? runAlone : runWorkers;
        const { changeRegularly } = demo ? await import('../store/demo-data.ts') : {};
        await run({ config, store, logger, workers }, () => {
          if (demoClient !== undefined) writeDemoClient(config, demoClient);
          announce({ config, demo: demoClient, json, workers }, logger, output);
          sweepRegularly(store, config, logger);
          rotateRegularly(keyRingOptions(config, store, logger), logger);
          checkRegularly(config, logger);
          const stop = changeRegularly?.(store, logger);
          if (stop !== undefined) process.once('SIGTERM', stop).once('SIGINT', stop);
        });
      } catch (error) {
        await store.close();
        throw error;
      }
    });
}

function readWorkers(text: string): number | 'auto' {
  if (text === 'auto') return text;
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= workersMax) return Number(text);
  throw new InvalidArgumentError(`It must be an integer from 1 to ${workersMax}, or auto, such as 4`);
}

interface Run {
  readonly config: Config;
  readonly store: Store;
  readonly logger: Logger;
  readonly workers: number;
}

/** Serves in this process. Returns when it is listening; a stop signal closes the store. */
async function runAlone({ config, store, logger }: Run, onServing: () => void): Promise<void> {
  // only this command needs the HTTP server; the other commands start in three quarters of the time
  // without it
  const { serve } = await import('../serve.ts');
  const service = await serve(config, store, logger);
  onSignals(config, {
    stop: (signal) => {
      logger.info({ signal }, 'stopping');
      void stopService({ service, store, config, logger });
    },
    endNow: () => process.exit(1),
    reread: service.rereadCertificates,
  });
  onServing();
}

/** Serves in worker processes and supervises them. Returns when all have exited. */
async function runWorkers({ config, store, logger, workers: count }: Run, onServing: () => void): Promise<void> {
  // reports problems of the keys only once, and generates the first keys
  await openKeyRing(keyRingOptions(config, store, logger));
  const { Workers } = await import('./workers.ts');
  const workers = new Workers(config, logger);
  const { ended } = await workers.start(count);
  onSignals(config, {
    stop: (signal) => {
      logger.info({ signal }, 'stopping');
      workers.stop();
    },
    endNow: () => {
      workers.kill();
      process.exit(1);
    },
    reread: () => workers.rereadCertificates(),
  });
  onServing();
  const inOrder = await ended;
  if (!inOrder) process.exitCode = 1;
  await store.close();
  logger.info('stopped');
}
