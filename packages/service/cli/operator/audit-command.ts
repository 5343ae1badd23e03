import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { dateRule, readDate } from '../../../cli/commands/filter-options.ts';
import type { ServerChoice } from '../../../cli/remote/server.ts';
import { formatInstant, parseInstant } from '../../../contract/instant.ts';
import { type AuditEntry, auditOutcomes } from '../../../contract/operator/audit.ts';
import type { CallOperation } from '../../../contract/operator/operations.ts';
import { UsageError } from '../../../terminal/error.ts';
import { integerFrom } from '../../../terminal/integer-option.ts';
import { formatTable, type Output, writeResult } from '../../../terminal/output.ts';
import { auditActions } from '../../audit/audit-event.ts';
import { nowSeconds } from '../store/now-seconds.ts';
import { addServerOption, listFirst, noteRest, pageItems, withOperations } from './operator-api.ts';

const followMs = 1_000;
const idMax = 999_999_999_999_999;

interface AuditOptions extends ServerChoice {
  readonly since?: string;
  readonly until?: string;
  readonly tenant?: string;
  readonly client?: string;
  readonly action?: string;
  readonly actor?: string;
  readonly outcome?: string;
  readonly limit: number;
  readonly after?: number;
  readonly json?: boolean;
  readonly ndjson?: boolean;
  readonly follow?: boolean;
}

export function addAuditCommand(program: Command, output: Output): void {
  const audit = program
    .command('audit')
    .description('list the audit log: who did what to which tenant or client, newest first')
    .option('--since <time>', 'only from this time on: a date, or a duration before now', parseTime)
    .option('--until <time>', 'only before this time', parseTime)
    .option('--tenant <tenant>', 'only about this tenant, which may be deleted')
    .option('--client <id>', 'only about the client with this id')
    .addOption(
      new Option('--action <action>', 'only this action (docs/operators/audit.md)').choices(Object.keys(auditActions)),
    )
    .option('--actor <actor>', 'only by the actor with this id or name')
    .addOption(new Option('--outcome <outcome>', 'only with this outcome').choices(auditOutcomes))
    .option('--limit <n>', 'maximum number of entries', integerFrom(1, idMax, 50), 50)
    .option('--json', 'print a JSON array')
    .option('--ndjson', 'print all entries as NDJSON, oldest first; ignores --limit')
    .option('--after <id>', 'with --ndjson or --follow: only entries after this id', integerFrom(0, idMax, 1042))
    .option('--follow', 'print new entries as they are added, until Ctrl-C')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport audit --since 24h\n  subreport audit --client acme-reporting --outcome refused\n  subreport audit --ndjson --after 1041 >> audit.ndjson\n  subreport audit --follow --ndjson',
    )
    .action(async (options: AuditOptions) => {
      const { json = false, ndjson = false, follow = false, after, limit } = options;
      if (json && (ndjson || follow))
        throw new UsageError('Cannot use --json: it must not be combined with --ndjson or --follow');
      if (after !== undefined && !ndjson && !follow)
        throw new UsageError('Cannot use --after: it must be combined with --ndjson or --follow');
      await withOperations(options, async (call) => {
        if (ndjson || follow) return writeForward(call, options, output);
        const { items, hasMore } = await listFirst(call, 'listAuditEntries', { query: filterOf(options), max: limit });
        writeResult(output, json, items, entriesTable(items));
        if (hasMore) noteRest(output, 'entries');
      });
    });
  addServerOption(audit);
}

const filterOf = ({ since, until, tenant, client: client_id, action, actor, outcome }: AuditOptions) => ({
  ...{ since, until, tenant, client_id, action, actor, outcome },
});

/** Writes entries oldest first: those after an id and, with `--follow`, new ones. */
async function writeForward(call: CallOperation, options: AuditOptions, output: Output): Promise<void> {
  const { follow = false, ndjson = false } = options;
  let after = options.after ?? (ndjson ? 0 : await newestId(call));
  for (let cursor: string | undefined; ; ) {
    const query = { ...filterOf(options), limit: pageItems, after, cursor };
    const { data, next } = await call('listAuditEntries', { query });
    for (const entry of data)
      output.stdout.write(ndjson ? `${JSON.stringify(entry)}\n` : `${cellsOf(entry).join('  ')}\n`);
    // without new entries, the same position is read again
    const last = data.at(-1);
    if (next !== null) cursor = next;
    else if (last !== undefined) [after, cursor] = [last.id, undefined];
    if (next === null && !follow) return;
    if (next === null) await sleep(followMs);
  }
}

const newestId = async (call: CallOperation): Promise<number> =>
  (await call('listAuditEntries', { query: { limit: 1 } })).data[0]?.id ?? 0;

const entriesTable = (entries: readonly AuditEntry[]): string =>
  formatTable(
    ['ID', 'TIME', 'ACTOR', 'ACTION', 'TENANT', 'CLIENT', 'OUTCOME', 'ADDRESS', 'DETAILS'],
    entries.map(cellsOf),
  );

function cellsOf(entry: AuditEntry): readonly string[] {
  const { id, recorded_at, actor, action, tenant, client_id, outcome, error, address, details } = entry;
  const shown = Object.entries(details).map(([name, value]) => `${name}=${String(value)}`);
  return [
    ...[String(id), recorded_at, actor.name ?? actor.id ?? actor.kind, action, tenant ?? '-', client_id ?? '-'],
    ...[error === null ? outcome : `${outcome}: ${error}`, address ?? '-', shown.join(' ')],
  ];
}

/** The time of `--since` or `--until` as the API has it. */
function parseTime(text: string): string {
  const instant = parseInstant(readDate(text, { nowSeconds: nowSeconds() }) ?? '');
  if (instant !== undefined) return formatInstant(instant.seconds);
  throw new InvalidArgumentError(`It must be ${dateRule}`);
}
