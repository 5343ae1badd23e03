import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { auditActions } from '../audit/audit-action.ts';
import { auditOutcomes } from '../audit/audit-event.ts';
import { parseDuration } from '../contract/duration.ts';
import { parseInstant } from '../contract/instant.ts';
import { describeAuditEntry, listAudit } from '../operator/list-audit.ts';
import type { Store } from '../storage/store.ts';
import type { AuditEntryRow, AuditFilter } from '../storage/tables/audit-entry.ts';
import { readConfig } from './config.ts';
import { UsageError } from './error.ts';
import { formatTable, type Output, writeResult } from './output.ts';
import { nowSeconds, withStore } from './store-session.ts';

/** Entries per read of `--ndjson` and `--follow`. */
const pageEntries = 500;
const followMs = 1_000;

interface AuditOptions extends AuditFilter {
  readonly client?: string;
  readonly limit: number;
  readonly after?: number;
  readonly json?: boolean;
  readonly ndjson?: boolean;
  readonly follow?: boolean;
}

/** `subreport audit`. */
export function addAuditCommand(program: Command, output: Output): void {
  program
    .command('audit')
    .description('list the audit log: who did what to which tenant or client, newest first')
    .option('--since <time>', 'only from this time on: an ISO 8601 date-time, or a duration before now', parseTime)
    .option('--until <time>', 'only before this time', parseTime)
    .option('--tenant <tenant>', 'only about this tenant, which may be deleted')
    .option('--client <id>', 'only about the client with this id')
    .addOption(new Option('--action <action>', 'only this action (docs/audit.md)').choices(Object.keys(auditActions)))
    .option('--actor <actor>', 'only by the actor with this id or name')
    .addOption(new Option('--outcome <outcome>', 'only with this outcome').choices(auditOutcomes))
    .option('--limit <n>', 'maximum number of entries', readCount, 50)
    .option('--json', 'print a JSON array')
    .option('--ndjson', 'print all entries as NDJSON, oldest first; ignores --limit')
    .option('--after <id>', 'with --ndjson or --follow: only entries after this id', readCount)
    .option('--follow', 'print new entries as they are added, until Ctrl-C')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport audit --since 24h\n  subreport audit --client acme-reporting --outcome refused\n  subreport audit --ndjson --after 1041 >> audit.ndjson\n  subreport audit --follow --ndjson',
    )
    .action(async ({ client: clientId, ...options }: AuditOptions) => {
      const { json = false, ndjson = false, follow = false, after, limit } = options;
      if (json && (ndjson || follow))
        throw new UsageError('Cannot use --json: it must not be combined with --ndjson or --follow');
      if (after !== undefined && !ndjson && !follow)
        throw new UsageError('Cannot use --after: it must be combined with --ndjson or --follow');
      const filter = { ...options, clientId };
      await withStore(readConfig(), async (store) => {
        if (ndjson || follow) return writeForward(store, filter, options, output);
        const { entries } = await listAudit({ store }, filter, { limit });
        writeResult(output, json, entries.map(describeAuditEntry), entriesTable(entries));
      });
    });
}

/** Writes entries oldest first: those after an id and, with `--follow`, new ones. */
async function writeForward(
  store: Store,
  filter: AuditFilter,
  { follow = false, ndjson = false, after }: AuditOptions,
  output: Output,
): Promise<void> {
  for (let at = after ?? (ndjson ? 0 : await newestId(store)); ; ) {
    const { entries, reached, hasMore } = await listAudit({ store }, filter, { limit: pageEntries, after: at });
    for (const entry of entries)
      output.stdout.write(ndjson ? `${JSON.stringify(describeAuditEntry(entry))}\n` : `${cellsOf(entry).join('  ')}\n`);
    at = reached;
    if (!hasMore && !follow) return;
    if (!hasMore) await sleep(followMs);
  }
}

const newestId = async (store: Store): Promise<number> =>
  (await listAudit({ store }, {}, { limit: 1 })).entries[0]?.id ?? 0;

const entriesTable = (entries: readonly AuditEntryRow[]): string =>
  formatTable(
    ['ID', 'TIME', 'ACTOR', 'ACTION', 'TENANT', 'CLIENT', 'OUTCOME', 'ADDRESS', 'DETAILS'],
    entries.map(cellsOf),
  );

function cellsOf(entry: AuditEntryRow): readonly string[] {
  const { id, recorded_at, actor, action, tenant, client_id, outcome, error, address, details } =
    describeAuditEntry(entry);
  const shown = Object.entries(details).map(([name, value]) => `${name}=${String(value)}`);
  return [
    ...[String(id), recorded_at, actor.name ?? actor.id ?? actor.kind, action, tenant ?? '-', client_id ?? '-'],
    ...[error === null ? outcome : `${outcome}: ${error}`, address ?? '-', shown.join(' ')],
  ];
}

function parseTime(text: string): number {
  const seconds = parseInstant(text)?.seconds ?? ago(parseDuration(text));
  if (seconds === undefined)
    throw new InvalidArgumentError(
      `it must be an ISO 8601 date-time or a duration, such as 2026-05-01T08:00:00Z or 24h: current value is '${text}'`,
    );
  return seconds;
}

const ago = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : nowSeconds() - seconds;

function readCount(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new InvalidArgumentError(`it must be an integer, such as 50: current value is '${text}'`);
  return Number(text);
}
