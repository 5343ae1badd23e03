import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { CheckResult } from '../metrics/host-metrics.ts';
import type { Config } from './config.ts';
import { checkLine, type ReportedCheck } from './examine-store.ts';
import { nowSeconds } from './store-session.ts';

/**
 * Milliseconds from the start to the first check, so that a service that is restarted often is
 * checked too.
 */
const firstCheckMs = 600_000;
/** The lowest priority (nice 19): the check only uses idle CPU time. */
const lowestPriority = 19;

let lastResult: CheckResult | undefined;

/** The result of the last check that this process started. */
export const lastCheck = (): CheckResult | undefined => lastResult;

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

/**
 * Checks the SQLite database periodically, because SQLite itself does not detect flipped bits
 * (docs/decisions/flipped-bytes.md).
 */
export function checkRegularly(config: Config, logger: Logger): void {
  const { DATABASE_URL, CHECK_HOURS } = config;
  if (DATABASE_URL !== undefined || CHECK_HOURS === 0) return;
  const check = () =>
    void checkStore(config, logger).catch((error: unknown) =>
      logger.warn({ err: error }, 'the store could not be checked'),
    );
  setTimeout(check, firstCheckMs).unref();
  setInterval(check, CHECK_HOURS * 3_600_000).unref();
}

/** Runs `subreport doctor` in a child process and logs the result, as an error if a check fails. */
async function checkStore({ DATA_DIR, KEY_ROTATION_DAYS }: Config, logger: Logger): Promise<void> {
  const child = spawn(process.execPath, [main, 'doctor', '--json'], {
    env: { DATA_DIR, KEY_ROTATION_DAYS: String(KEY_ROTATION_DAYS) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const end = () => child.kill();
  process.once('exit', end);
  try {
    if (child.pid !== undefined) setPriority(child.pid, lowestPriority);
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const { ok, checks } = JSON.parse(output) as { ok: boolean; checks: readonly ReportedCheck[] };
    const problems = checks.filter((check) => !check.ok).map(checkLine);
    lastResult = { problems: problems.length, finishedAt: nowSeconds() };
    if (ok) logger.info({ checks: checks.length }, 'the store was checked');
    else logger.error({ problems }, 'the store has problems: run subreport doctor');
  } finally {
    process.off('exit', end);
  }
}
