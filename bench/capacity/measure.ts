import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { findTenant } from '../../src/storage/tables/tenant.ts';
import { openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet } from '../support/data-set.ts';
import { machineFacts } from '../support/results.ts';
import { measureServing, type Served } from './serving.ts';
import { type Imported, measureImport, measureSize, type Stored } from './storing.ts';

// What serving and storing cost: CPU time of all processes, disk and memory. The figures of
// docs/capacity.md. On Linux only.
//   npm run bench:capacity
//   npm run bench:capacity -- --records 20000 --imported 5000 --rounds 1 --seconds 1 --dry-run

const tenantCount = 200;
const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '250000' },
    imported: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    'dry-run': { type: 'boolean', default: false },
  },
});
const records = Number(values.records);
const effort = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
};

interface Engine {
  readonly name: string;
  readonly empty: Stored;
  readonly full: Stored;
  readonly imported: Imported;
  readonly served: readonly Served[];
}

async function measure(name: string): Promise<Engine> {
  const opened = name === 'SQLite' ? await openBenchSqlite() : await openBenchPostgres();
  try {
    const empty = await measureSize(opened);
    const tenants = await loadDataSet(opened.store, records, tenantCount);
    const imported = await measureImport(opened, Number(values.imported));
    const large = (await findTenant(opened.store, 'bench'))?.tenant;
    if (large === undefined) throw new RangeError('Cannot measure: the import must have a tenant');
    if (opened.serverPid !== undefined) await opened.administer('vacuum analyze');
    const served: Served[] = [];
    for (const workers of [1, 2])
      served.push(await measureServing(opened, tenants, { tenant: large, records: imported.records }, workers, effort));
    return { name, empty, full: await measureSize(opened), imported, served };
  } finally {
    await opened.close();
  }
}

const engines = [await measure('SQLite'), await measure('PostgreSQL')];
const report = toMarkdown();
console.log(report);
if (!values['dry-run']) writeFileSync(new URL('../results/capacity.md', import.meta.url), `${report}\n`);

function toMarkdown(): string {
  const date = new Date().toISOString().slice(0, 10);
  return [
    '# Capacity',
    '',
    `Written by \`npm run bench:capacity\` on ${date}. ${records} records of ${tenantCount} tenants (Zipf), and one tenant with ${values.imported} imported records in`,
    'random order. CPU time of all processes and threads: the service with its workers, and all processes of PostgreSQL. It hardly depends on other load on the machine.',
    '',
    `${machineFacts()}.`,
    '',
    '## CPU seconds',
    '',
    'For 1,000 requests; the export and the import for 1,000,000 records. Page of 50 records; cold: any tenant, any twelve months, no response cache; hot and 304: one page repeatedly.',
    '',
    ...table(['engine', 'workers', 'work', 'service', 'PostgreSQL', 'sum'], engines.flatMap(costRows)),
    '',
    '## Disk',
    '',
    ...table(['engine', 'bytes per record', 'of which', 'log bytes per imported record'], engines.map(diskRow)),
    '',
    '## Memory of the service',
    '',
    'Proportional set size in MiB, after the start and after the load above; the page cache has its default of 64 MiB per process.',
    '',
    ...table(['engine', 'workers', 'started', 'loaded'], engines.flatMap(memoryRows)),
  ].join('\n');
}

function costRows({ name, imported, served }: Engine): (string | number)[][] {
  const cells = (service: number, database: number) =>
    [service, database, service + database].map((seconds) => seconds.toPrecision(3));
  return [
    ...served.flatMap(({ workers, costs }) =>
      costs.map((cost) => [name, workers, cost.name, ...cells(cost.service, cost.database)]),
    ),
    [name, '-', 'import', ...cells(imported.process, imported.database)],
  ];
}

function diskRow({ name, empty, full, imported }: Engine): string[] {
  const perRecord = (bytes: number): string => (bytes / (records + imported.records)).toFixed(0);
  const parts = Object.entries(full.parts).map(([part, bytes]) => `${part} ${perRecord(bytes)}`);
  const log = imported.logBytes === undefined ? '-' : imported.logBytes.toFixed(0);
  return [name, perRecord(full.total - empty.total), parts.join(', ') || '-', log];
}

function memoryRows({ name, served }: Engine): (string | number)[][] {
  return served.map(({ workers, memory }) => [name, workers, memory.started.toFixed(0), memory.loaded.toFixed(0)]);
}

function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`);
}
