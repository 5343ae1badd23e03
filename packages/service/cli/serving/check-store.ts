import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { StorageError } from '../../storage/error.ts';
import type { Config } from '../config.ts';
import { checkLine, type ReportedCheck } from '../store/examine-store.ts';

/** From the start to the first check, so that a service that is restarted often is checked too. */
const firstCheckMs = 600_000;
/** A flipped byte is found while older backups are still without it. */
const everyMs = 24 * 3_600_000;
/** The lowest priority (nice 19): the check only uses idle CPU time. */
const lowestPriority = 19;

/** Longest check, in milliseconds. */
const doctorMsMax = 3_600_000;

/** It keeps the memory that `planMemory` leaves for it. */
const checkFlags = ['--max-old-space-size=64', '--max-semi-space-size=4'];

const main = fileURLToPath(new URL('../main.ts', import.meta.url));

/**
 * Checks the SQLite database periodically, because SQLite itself does not detect flipped bits
 * (docs/decisions/storage.md#flipped-bytes).
 */
export function checkRegularly(config: Config, logger: Logger): void {
  if (config.DATABASE_URL !== undefined) return;
  const check = () =>
    void checkStore(config, logger).catch((error: unknown) =>
      logger.warn({ err: error }, 'the store could not be checked'),
    );
  setInterval(check, everyMs).unref();
  setTimeout(check, firstCheckMs).unref();
}

/** Checks the store and logs the result, as an error if a check fails. */
async function checkStore(config: Config, logger: Logger): Promise<void> {
  const checks = await runDoctorProcess(config);
  const problems = checks.filter((check) => !check.ok).map(checkLine);
  if (problems.length === 0) logger.info({ checks: checks.length }, 'the store was checked');
  else logger.error({ problems }, 'the store has problems: run subreport doctor');
}

/**
 * Runs `subreport doctor`, which stores its result, in a child process. A service that stops does
 * not wait for it: the child ends with its parent.
 */
export async function runDoctorProcess({ DATA_DIR, DATABASE_URL }: Config): Promise<readonly ReportedCheck[]> {
  const child = spawn(process.execPath, [...checkFlags, main, 'doctor', '--json'], {
    // the settings on which the checks depend, without other secrets
    env: { DATA_DIR, ...(DATABASE_URL !== undefined && { DATABASE_URL }) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const end = () => child.kill();
  const timer = setTimeout(end, doctorMsMax);
  process.once('exit', end);
  try {
    if (child.pid !== undefined) setPriority(child.pid, lowestPriority);
    for (const handle of [timer, child, child.stdout as Socket]) handle.unref();
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return readChecks(output);
  } finally {
    clearTimeout(timer);
    process.off('exit', end);
  }
}

function readChecks(output: string): readonly ReportedCheck[] {
  try {
    return (JSON.parse(output) as { checks: readonly ReportedCheck[] }).checks;
  } catch (error) {
    throw new StorageError(
      'UNAVAILABLE',
      "Cannot check the store: it must be reachable, and the check must end within an hour; 'subreport doctor' shows the reason",
      error,
    );
  }
}
