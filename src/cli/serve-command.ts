import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { operations } from '../contract/operations.ts';
import { deleteDeadFamilies } from '../storage/refresh-family.ts';
import type { Store } from '../storage/store.ts';
import { type Config, readConfig } from './config.ts';
import { type DemoClient, prepareDemo } from './demo.ts';
import { createLogger } from './logger.ts';
import { type Output, writeResult } from './output.ts';
import type { RunningService } from './serve.ts';
import { nowSeconds, openReadyStore } from './store-session.ts';

/** How long a stop may take after its delay, in milliseconds; what is still under way then is cut off. */
const stopMsMax = 15_000;
/** Least time for requests that were sent before the signal and were not read yet: a listener that closes at once resets their connections. */
const settleMs = 250;
/** How often connections are let go that became idle while stopping, in milliseconds. */
const sweepIdleMs = 50;
const sweepEveryMs = 600_000;

/** `subreport serve`. */
export function addServeCommand(program: Command, output: Output): void {
  program
    .command('serve')
    .description('run the service')
    .option('--demo', 'with a demo tenant of 2,000 synthetic subscriptions and a client, made at the first start')
    .option('--json', 'announce the demo as one line of JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport serve --demo\n  DATABASE_URL=postgres://subreport:secret@localhost/subreport HOST=0.0.0.0 PUBLIC_URL=https://reports.example.com subreport serve',
    )
    .action(async ({ demo = false, json = false }: { demo?: boolean; json?: boolean }) => {
      const config = readConfig();
      const { serve } = await import('./serve.ts'); // only this command needs the HTTP server: the others start in three quarters of the time
      const logger = createLogger(config.LOG_LEVEL);
      const store = await openReadyStore(config, (error) =>
        logger.warn({ err: error }, 'a pooled connection broke; the pool replaces it'),
      );
      try {
        const demoClient = demo ? await prepareDemo(config, store) : undefined;
        const service = await serve(config, store, logger);
        announce({ config, demo: demoClient, json }, logger, output);
        stopOnSignal(service, store, config, logger);
        sweepRegularly(store, logger);
      } catch (error) {
        await store.close();
        throw error;
      }
    });
}

interface Announcement {
  readonly config: Config;
  readonly demo: DemoClient | undefined;
  readonly json: boolean;
}

function announce({ config, demo, json }: Announcement, logger: Logger, output: Output): void {
  const { publicUrl } = config;
  if (publicUrl.startsWith('http://') && !['127.0.0.1', 'localhost', '[::1]'].includes(new URL(publicUrl).hostname)) {
    logger.warn(
      { public_url: publicUrl },
      'PUBLIC_URL is http: tokens and secrets travel in the clear (RFC 6749 section 10.9); put TLS in front and set PUBLIC_URL to https',
    );
  }
  const places = {
    report: publicUrl + operations.listSubscriptions.path,
    token: publicUrl + operations.issueToken.path,
    console: `${publicUrl}/console`,
    docs: `${publicUrl}/docs`,
  };
  if (demo === undefined) logger.info(places, 'serving');
  else writeResult(output, json, { ...places, tenant: demo.tenant, client_id: demo.client_id }, demoText(demo, places));
}

/** What a newcomer needs, with a command to paste. */
function demoText({ client_id, client_secret, tenant }: DemoClient, places: Readonly<Record<string, string>>): string {
  const { report, token } = places;
  return `
subreport is running with demo data (tenant ${tenant}). Stop it with Ctrl-C.

  Report   ${report}
  Token    ${token}
  Console  ${places.console}
  Docs     ${places.docs}

Paste this to read a report:

  TOKEN=$(curl -s ${token} -d grant_type=client_credentials \\
    -d client_id=${client_id} -d client_secret=${client_secret} \\
    | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -i -H "Authorization: Bearer $TOKEN" '${report}?size=2'
`;
}

/** Finishes what is under way at the first signal; a second one, or too long a wait, ends the process at once. */
function stopOnSignal({ app, drain }: RunningService, store: Store, config: Config, logger: Logger): void {
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    for (const each of stopSignals) process.removeAllListeners(each).once(each, () => process.exit(1));
    logger.info({ signal }, 'stopping');
    drain();
    await sleep(Math.max(settleMs, config.SHUTDOWN_DELAY_SECONDS * 1000));
    setTimeout(() => {
      logger.error('stopping took too long; what was under way is cut off');
      process.exit(1);
    }, stopMsMax).unref();
    // Closing lets go of connections that are idle now. One whose answer ends a moment later would be kept open for its next request, and keep us here.
    const idleSweep = setInterval(() => app.server.closeIdleConnections(), sweepIdleMs);
    await app.close();
    clearInterval(idleSweep);
    await store.close();
    logger.info('stopped');
  };
  for (const signal of stopSignals) process.once(signal, () => void stop(signal));
}

const stopSignals = ['SIGTERM', 'SIGINT'] as const;

function sweepRegularly(store: Store, logger: Logger): void {
  const sweep = () =>
    deleteDeadFamilies(store, nowSeconds()).catch((error: unknown) =>
      logger.warn({ err: error }, 'dead refresh families stay until the next sweep'),
    );
  setInterval(() => void sweep(), sweepEveryMs).unref();
}
