import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { dateRule, readDate } from '../../../cli/commands/filter-options.ts';
import type { ServerChoice } from '../../../cli/remote/server.ts';
import { formatInstant, parseInstant } from '../../../contract/instant.ts';
import type { CallOperation } from '../../../contract/operator/operations.ts';
import { UsageError } from '../../../terminal/error.ts';
import { integerFrom } from '../../../terminal/integer-option.ts';
import { type Output, writeResult } from '../../../terminal/output.ts';
import { printable } from '../../../terminal/printable.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import { type Given, inputOf } from './inputs.ts';
import { type Columns, cellsOf, newCommand, writeList } from './operation-command.ts';
import { addServerOption, type Item, pageItems, withOperations } from './operator-api.ts';

const followMs = 1_000;
const idMax = 999_999_999_999_999;

const operation = 'listAuditEntries';

const columns: Columns<Item<typeof operation>> = {
  ID: 'id',
  TIME: 'recorded_at',
  ACTOR: ({ actor: { kind, id, name } }) => name ?? id ?? kind,
  ACTION: 'action',
  TENANT: 'tenant',
  CLIENT: 'client_id',
  OUTCOME: ({ outcome, error }) => (error === null ? outcome : `${outcome}: ${error}`),
  ADDRESS: 'address',
  DETAILS: ({ details }) =>
    Object.entries(details)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
};

interface AuditOptions extends ServerChoice {
  readonly limit: number;
  readonly json?: boolean;
  readonly ndjson?: boolean;
  readonly follow?: boolean;
}

export function addAuditCommand(program: Command, output: Output): void {
  const { command, read } = newCommand(program, {
    name: 'audit',
    operation,
    description: 'list the audit log: who did what to which tenant or client, newest first',
    inputs: {
      limit: null,
      cursor: null,
      since: {
        flags: '--since <time>',
        hint: 'only from this time on: a date, or a duration before now',
        parse: parseTime,
      },
      until: { flags: '--until <time>', parse: parseTime },
      tenant: { hint: 'only about this tenant, which may be deleted' },
      client_id: { flags: '--client <id>' },
      action: { hint: 'only this action (docs/operators/audit.md)' },
      after: { flags: '--after <id>', hint: 'with --ndjson or --follow: only entries after this id' },
    },
    examples: [
      'audit --since 24h',
      'audit --client acme-reporting --outcome refused',
      'audit --ndjson --after 1041 >> audit.ndjson',
      'audit --follow --ndjson',
    ],
  });
  command
    .option('--limit <n>', 'maximum number of entries', integerFrom(1, idMax, 50), 50)
    .option('--json', 'print a JSON array')
    .option('--ndjson', 'print all entries as NDJSON, oldest first; ignores --limit')
    .option('--follow', 'print new entries as they are added, until Ctrl-C')
    .action(async (options: AuditOptions) => {
      const { json = false, ndjson = false, follow = false } = options;
      const given = await read();
      if (json && (ndjson || follow))
        throw new UsageError('Cannot use --json: it must not be combined with --ndjson or --follow');
      if (given.after !== undefined && !ndjson && !follow)
        throw new UsageError('Cannot use --after: it must be combined with --ndjson or --follow');
      await withOperations(options, (call) =>
        ndjson || follow
          ? writeForward(call, given, options, output)
          : writeList(call, { operation, columns, what: 'entries' }, given, options, output),
      );
    });
  addServerOption(command);
}

/** Writes entries oldest first: those after an id and, with `--follow`, new ones. */
async function writeForward(
  call: CallOperation,
  given: Given<typeof operation>,
  { follow = false, ndjson = false }: AuditOptions,
  output: Output,
): Promise<void> {
  let after = Number(given.after ?? (ndjson ? 0 : await newestId(call)));
  for (let cursor: string | undefined; ; ) {
    const { data, next } = await call(operation, inputOf(operation, { ...given, limit: pageItems, after, cursor }));
    for (const entry of data) writeResult(output, ndjson, entry, cellsOf(columns, entry).map(printable).join('  '));
    // without new entries, the same position is read again
    const last = data.at(-1);
    if (next !== null) cursor = next;
    else if (last !== undefined) [after, cursor] = [last.id, undefined];
    if (next === null && !follow) return;
    if (next === null) await sleep(followMs);
  }
}

const newestId = async (call: CallOperation): Promise<number> =>
  (await call(operation, { query: { limit: 1 } })).data[0]?.id ?? 0;

/** The time of `--since` or `--until` as the API has it. */
function parseTime(text: string): string {
  const instant = parseInstant(readDate(text, { nowSeconds: nowSeconds() }) ?? '');
  if (instant !== undefined) return formatInstant(instant.seconds);
  throw new InvalidArgumentError(`It must be ${dateRule}`);
}
