import type { Command } from 'commander';
import { type CountsCheck, checkCounts } from '../storage/check-counts.ts';
import { openStore } from '../storage/open-store.ts';
import type { Store, TenantId } from '../storage/store.ts';
import type { StoreCheck } from '../storage/store-check.ts';
import { listTenants } from '../storage/tenant.ts';
import { readConfig } from './config.ts';
import { type Output, writeResult } from './output.ts';

interface DoctorOptions {
  readonly repair?: boolean;
  readonly json?: boolean;
}

/** A check as it is reported: of the whole store, or of one tenant. */
interface ReportedCheck extends StoreCheck {
  readonly tenant?: string;
  readonly repaired?: boolean;
}

/** Problems of one tenant that are told; a store that is broken in many places is repaired, not read. */
const toldMax = 5;

/** `subreport doctor`. */
export function addDoctorCommand(program: Command, output: Output): void {
  program
    .command('doctor')
    .description('check the store: its schema, its integrity, row-level security, and the kept counts of every tenant')
    .option('--repair', 'count the records anew of each tenant whose counts are wrong')
    .option('--json', 'print {"ok","checks"}')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport doctor\n  subreport doctor --repair --json\n\nExit codes: 0 all is well, also after a repair; 1 something is not.',
    )
    .action(async ({ repair = false, json = false }: DoctorOptions) => {
      const config = readConfig();
      const store = openStore({
        databaseUrl: config.DATABASE_URL,
        dataDir: config.DATA_DIR,
        poolSize: config.DATABASE_POOL_SIZE,
        operationMs: countingMs,
        onConnectionError: () => undefined, // the statement under way fails by itself
      });
      try {
        const checks = await examine(store, repair);
        const ok = checks.every((check) => check.ok);
        writeResult(output, json, { ok, checks }, checks.map(lineOf).join('\n'));
        if (!ok) process.exitCode = 1;
      } finally {
        await store.close();
      }
    });
}

/** Longest time to count the records of one tenant, in milliseconds: every key is read. */
const countingMs = 3_600_000;

async function examine(store: Store, repair: boolean): Promise<readonly ReportedCheck[]> {
  const checks: ReportedCheck[] = [...(await store.examine())];
  const readable = checks.every(({ check, ok }) => ok || (check !== 'schema' && check !== 'integrity'));
  if (!readable) return checks; // nothing can be counted that cannot be read
  for (const { tenant } of await listTenants(store)) checks.push(await examineCounts(store, tenant, repair));
  return checks;
}

async function examineCounts(store: Store, tenant: TenantId, repair: boolean): Promise<ReportedCheck> {
  const found = await store.readTenant(tenant, checkCounts);
  if (found.problems.length === 0 || !repair) return toCheck(tenant, found);
  await store.recountSubscriptions(tenant);
  const repaired = await store.readTenant(tenant, checkCounts);
  return { ...toCheck(tenant, repaired), repaired: repaired.problems.length === 0 };
}

function toCheck(tenant: string, { rows, problems }: CountsCheck): ReportedCheck {
  const told = problems.slice(0, toldMax).join('; ');
  const more = problems.length > toldMax ? `; and ${problems.length - toldMax} more` : '';
  const message =
    problems.length === 0
      ? `${rows} records, all counts exact`
      : `Cannot rely on the counts: they must be those of the records: ${told}${more}; mend them with: subreport doctor --repair`;
  return { check: 'counts', tenant, ok: problems.length === 0, message };
}

const lineOf = ({ check, tenant, ok, message, repaired }: ReportedCheck): string =>
  `${ok ? 'ok     ' : 'PROBLEM'} ${check}${tenant === undefined ? '' : ` of ${tenant}`}: ${message}${repaired === true ? ' (repaired)' : ''}`;
