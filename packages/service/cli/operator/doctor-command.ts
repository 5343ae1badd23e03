import type { Command } from 'commander';
import { type ServerChoice, serverOf } from '../../../cli/remote/server.ts';
import { UsageError } from '../../../terminal/error.ts';
import { type Output, writeResult } from '../../../terminal/output.ts';
import { packageVersion } from '../../../terminal/package-version.ts';
import { redraw } from '../../../terminal/printable.ts';
import { keepDoctorResult } from '../../operator/doctor.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import { readConfig } from '../config.ts';
import { describeFailure } from '../log/describe-failure.ts';
import { recordStoreAction, recordStoreStart } from '../store/command-context.ts';
import { checkLine, examineStore, type ReportedCheck } from '../store/examine-store.ts';
import { openConfiguredStore, requireStore } from '../store/store-session.ts';
import { addServerOption, withOperations } from './operator-api.ts';

/** Time limit for counting the records of one tenant, in milliseconds: every key is read. */
const countingMs = 3_600_000;

interface DoctorOptions extends ServerChoice {
  readonly repair?: boolean;
  readonly full?: boolean;
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
    .option('--json', 'print {"ok","checks"}')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport doctor\n  subreport doctor --repair --json\n\nExit codes: 0 all checks passed, or all problems were repaired; 1 otherwise.',
    )
    .action(async ({ repair = false, full = false, json = false, ...choice }: DoctorOptions) => {
      const isLocal = serverOf(choice) === undefined;
      for (const [option, isUsed] of Object.entries({ repair, full }))
        if (isUsed && !isLocal)
          throw new UsageError(`Cannot use --${option}: it must not be combined with --server, as it needs the store`);
      const checks = isLocal
        ? await checkHere({ repair, full }, output)
        : (await withOperations(choice, (call) => call('runDoctor'))).checks;
      const ok = checks.every((check) => check.ok);
      writeResult(output, json, { ok, checks }, checks.map(checkLine).join('\n'));
      if (!ok) process.exitCode = 1;
    });
  addServerOption(doctor);
}

/** Checks the store of the settings, and stores the result in it. */
async function checkHere(
  { repair, full }: { readonly repair: boolean; readonly full: boolean },
  output: Output,
): Promise<readonly ReportedCheck[]> {
  const config = readConfig();
  requireStore(config);
  const store = openConfiguredStore(config, { operationMs: countingMs });
  try {
    const startedAt = nowSeconds();
    if (repair) await recordStoreStart(config, output, 'store.repair');
    const show = (text: string) => output.stderr.isTTY === true && output.stderr.write(`${redraw}${text}`);
    show('Checking the database');
    const checks = await examineStore(store, {
      now: nowSeconds,
      repairAt: repair ? startedAt : undefined,
      full,
      onProgress: (checked, tenants) => show(`Checking tenant ${checked + 1} of ${tenants}`),
    });
    show('');
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
