import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machineFacts } from '../support/results.ts';
import { type Cost, measureBare, measureImports } from './measure.ts';
import { type SourceOrder, sourceOrders, writeChangedSource, writeSource } from './write-sources.ts';

// Two imports of NDJSON by CPU time of all processes, PostgreSQL's included. The first load into an
// empty store, beside the bare load of the same records: ready rows, into a table with the same
// indexes. Then a file with all records again, of which every twentieth has changed, beside reading
// and checking that file. Each import runs in a process of its own with the flags that
// `subreport import` gives it.
//   npm run bench -- import                            1 million records
//   npm run bench -- import --records 100000 --engine sqlite --order 'in order'

const { values: args } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    order: { type: 'string', multiple: true, default: [...sourceOrders] },
  },
});
/** A row of the results: an import, and the work that it is compared with. */
interface Measured {
  readonly engine: string;
  readonly order: SourceOrder;
  readonly how: string;
  readonly base: Cost;
  readonly ours: Cost;
}

const records = Number(args.records);
const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-'));
chmodSync(folder, 0o755); // PostgreSQL runs as another user and reads the file itself
const measured: Measured[] = [];
for (const order of args.order as SourceOrder[]) {
  const files = { first: join(folder, 'first.ndjson'), changed: join(folder, 'changed.ndjson') };
  await writeSource(files.first, records, order);
  await writeChangedSource(files.first, files.changed);
  for (const engine of args.engine) {
    const bare = await measureBare(engine, files.first);
    const note = (how: string, base: Cost, ours: Cost): void => {
      measured.push({ engine, order, how, base, ours });
      console.log(lineOf(measured.at(-1) as Measured));
    };
    const { first, check, change } = await measureImports(engine, files);
    note('first import', bare, first);
    note('import with 5 % changed', check, change);
  }
}
rmSync(folder, { recursive: true });
console.log(toMarkdown(measured));

function lineOf({ engine, order, how, base, ours }: Measured): string {
  const perRecord = ({ cpuSeconds }: Cost): string => ((cpuSeconds * 1e6) / records).toFixed(1);
  const cells = [engine, order, how, records, perRecord(base), perRecord(ours)];
  const rest = [(base.cpuSeconds / ours.cpuSeconds).toFixed(2), (records / ours.seconds).toFixed(0)];
  return `| ${[...cells, ...rest, ours.grownMb.toFixed(0)].join(' | ')} |`;
}

function toMarkdown(results: readonly Measured[]): string {
  const header = [
    ...['engine', 'order of createdDate', 'what', 'records'],
    ...['base, µs a record', 'ours, µs a record', 'base ÷ ours', 'records/s', 'MB grown'],
  ];
  return [
    'Imports of NDJSON: parsed, validated, stored with counts and revision in batches. "µs a record" is the CPU time of all processes, PostgreSQL and',
    'a final checkpoint included. The base of a first import, into an empty database, is a bare load of the same records: prepared rows, by `COPY` from a file on',
    'the server or by a prepared insert in batches of 10,000, into a table with the same indexes, which are there from the beginning.',
    'The base of an import with 5 % changed, whose file contains all records, is reading',
    'and checking the file without a database. "MB grown" is the memory of the import process.',
    '',
    machineFacts(),
    '',
    `| ${header.join(' | ')} |`,
    `|${header.map(() => '---').join('|')}|`,
    ...results.map(lineOf),
  ].join('\n');
}
