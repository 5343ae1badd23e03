import type { Command } from 'commander';
import { type ServerChoice, serverOf } from '../../../cli/remote/server.ts';
import { formatInstant } from '../../../contract/instant.ts';
import { UsageError } from '../../../terminal/error.ts';
import { type Output, writeResult } from '../../../terminal/output.ts';
import { packageVersion } from '../../../terminal/package-version.ts';
import { KeyError } from '../../auth/error.ts';
import { type KeyRingOptions, requireReadableKeys } from '../../auth/keys/ensure-keys.ts';
import { type KeyRotation, listRotations } from '../../auth/keys/rotate-keys.ts';
import { keepDoctorResult } from '../../operator/doctor.ts';
import { openStore } from '../../storage/open-store.ts';
import type { StoreCheck } from '../../storage/store.ts';
import { type Config, readConfig } from '../config.ts';
import { describeFailure } from '../log/describe-failure.ts';
import { readCertificate } from '../settings/certificates.ts';
import { type TlsFiles, tlsFiles } from '../settings/tls-settings.ts';
import { recordStoreAction, recordStoreStart } from '../store/command-context.ts';
import { checkLine, examineStore, type ReportedCheck } from '../store/examine-store.ts';
import { keyRingOptions } from '../store/key-ring-options.ts';
import { nowSeconds } from '../store/now-seconds.ts';
import { addServerOption, withOperations } from './operator-api.ts';

/** Time limit for counting the records of one tenant, in milliseconds: every key is read. */
const countingMs = 3_600_000;
/** Seconds after which a rotation that is due is overdue; services check every hour. */
const overdueSeconds = 86_400;
/** Days before the expiry at which a renewal is late: most authorities renew 30 days before. */
const daysMin = 14;
const daySeconds = 86_400;

const clearLine = '\r\x1b[K';

interface DoctorOptions extends ServerChoice {
  readonly repair?: boolean;
  readonly full?: boolean;
  readonly progress?: boolean;
  readonly json?: boolean;
}

export function addDoctorCommand(program: Command, output: Output): void {
  const doctor = program
    .command('doctor')
    .description(
      'check the database: schema, integrity, row-level security, and the records and stored counts of every tenant',
    )
    .option('--repair', 'repair and recount the records of each tenant that has a problem')
    .option('--full', 'also compare each entry of each index with its row (SQLite), which takes most of the time')
    .option(
      '--progress',
      'print {"checked","tenants","percent"} to standard error before each tenant and at each percent of it',
    )
    .option('--json', 'print {"ok","checks"}')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport doctor\n  subreport doctor --repair --json\n\nExit codes: 0 all checks passed, or all problems were repaired; 1 otherwise.',
    )
    .action(async ({ repair = false, full = false, progress = false, json = false, ...choice }: DoctorOptions) => {
      const isLocal = serverOf(choice) === undefined;
      for (const [option, isUsed] of Object.entries({ repair, full }))
        if (isUsed && !isLocal)
          throw new UsageError(`Cannot use --${option}: it must not be combined with --server, as it needs the store`);
      const checks = isLocal ? await checkHere({ repair, full, progress }, output) : await checkThere(choice);
      const ok = checks.every((check) => check.ok);
      writeResult(output, json, { ok, checks }, checks.map(checkLine).join('\n'));
      if (!ok) process.exitCode = 1;
    });
  addServerOption(doctor);
}

const checkThere = async (choice: ServerChoice): Promise<readonly ReportedCheck[]> =>
  (await withOperations(choice, (call) => call('runDoctor'))).checks;

/** Checks the store of the settings, and stores the result in it. */
async function checkHere(
  { repair, full, progress }: { readonly repair: boolean; readonly full: boolean; readonly progress: boolean },
  output: Output,
): Promise<readonly ReportedCheck[]> {
  const config = readConfig();
  const store = openStore({
    databaseUrl: config.DATABASE_URL,
    dataDir: config.DATA_DIR,
    poolSize: config.DATABASE_POOL_SIZE,
    keepsHistory: config.HISTORY_DAYS > 0,
    tenantBytesMax: config.TENANT_STORAGE_MAX_MIB * 2 ** 20,
    operationMs: countingMs,
  });
  try {
    const startedAt = nowSeconds();
    if (repair) await recordStoreStart(config, output, 'store.repair');
    const isShown = !progress && output.stderr.isTTY === true;
    if (isShown) output.stderr.write('Checking the database');
    const found = await examineStore(store, {
      now: nowSeconds,
      repairAt: repair ? startedAt : undefined,
      full,
      onProgress(done) {
        const { checked, tenants, percent } = done;
        if (progress) output.stderr.write(`${JSON.stringify(done)}\n`);
        if (isShown) output.stderr.write(`${clearLine}Checking tenant ${checked + 1} of ${tenants}: ${percent} %`);
      },
    });
    if (isShown) output.stderr.write(clearLine);
    // the keys of a store without its schema cannot be read
    const hasKeys = found.every(({ check, ok }) => ok || (check !== 'schema' && check !== 'integrity'));
    const keys = hasKeys ? [await checkKeys(keyRingOptions(config, store))] : [];
    const checks = [...found, ...keys, ...checkCertificates(config)];
    const ok = checks.every((check) => check.ok);
    if (repair) await recordStoreAction(config, output, 'store.repair', { ok });
    const times = { startedAt, finishedAt: nowSeconds(), version: packageVersion };
    await keepDoctorResult(store, checks, times).catch((error: unknown) => {
      // a store with problems may be unable to keep the result
      if (ok) output.stderr.write(`Cannot store the result of the check: ${describeFailure(error)}\n`);
    });
    return checks;
  } finally {
    await store.close();
  }
}

/** Checks that the settings decrypt every key, and that none is used for longer than its days. */
export async function checkKeys(
  options: Pick<KeyRingOptions, 'store' | 'cipher' | 'rotationDays'>,
): Promise<StoreCheck> {
  const check = 'keys';
  try {
    await requireReadableKeys(options);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return { check, ok: false, message: error.message };
  }
  const { rotationDays } = options;
  const rotations = await listRotations({ ...options, now: nowSeconds });
  if (rotations.length === 0) return { check, ok: true, message: 'There are none; the first start generates them' };
  const overdue = rotations.filter(({ dueAt }) => dueAt !== null && nowSeconds() > dueAt + overdueSeconds);
  if (overdue.length === 0) return { check, ok: true, message: rotations.map(describeRotation).join('; ') };
  const dates = overdue.map(({ purpose, dueAt }) => `${purpose} due since ${formatInstant(dueAt ?? 0)}`).join(', ');
  const message = `Cannot rely on the rotation of keys: a running service must rotate each key after ${rotationDays} days (KEY_ROTATION_DAYS): current value is ${dates}; start the service, or run: subreport keys rotate`;
  return { check, ok: false, message };
}

const describeRotation = ({ purpose, activeSince, dueAt }: KeyRotation): string =>
  `${purpose} key in use since ${formatInstant(activeSince)}, ${dueAt === null ? 'not rotated automatically' : `next rotation ${formatInstant(dueAt)}`}`;

export function checkCertificates(config: Config): readonly StoreCheck[] {
  const files = [tlsFiles(config, ''), tlsFiles(config, 'MANAGEMENT_')].filter((each) => each !== undefined);
  return files.map((each) => ({ check: 'certificate', ...checkCertificate(each) }));
}

function checkCertificate(files: TlsFiles): Pick<StoreCheck, 'ok' | 'message'> {
  try {
    const { expiresAt } = readCertificate(files);
    const days = Math.floor((expiresAt - nowSeconds()) / daySeconds);
    const expiry = `${formatInstant(expiresAt)}, in ${days} days`;
    if (days >= daysMin) return { ok: true, message: `${files.certificate} expires at ${expiry}` };
    return {
      ok: false,
      message: `Cannot rely on the certificate ${files.certificate}: it must be valid for ${daysMin} more days: it expires at ${expiry}; renew it`,
    };
  } catch (error) {
    return { ok: false, message: (error as Error).message };
  }
}
