import { parseArgs } from 'node:util';
import { findTenant } from '../../packages/service/storage/tables/tenant.ts';
import { openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet } from '../support/data-set.ts';
import { machineFacts, printSection } from '../support/results.ts';
import { measureServing, type Served } from './serving.ts';
import { type Imported, measureImport, measureSize, type Stored } from './storing.ts';

// What serving and storing cost: CPU time of all processes, disk and memory. On Linux only.
//   npm run bench -- capacity
//   npm run bench -- capacity --records 20000 --imported 5000 --rounds 1 --seconds 1

const tenantCount = 200;
const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '150000' },
    imported: { type: 'string', default: '60000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '16' },
    engine: { type: 'string', multiple: true, default: ['SQLite', 'PostgreSQL'] },
  },
});
const records = Number(values.records);
const effort = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
};

/** What the figures are. */
const description = `${records} records of ${tenantCount} tenants (Zipf), and ${values.imported} more imported in random order as one tenant. CPU time of all processes and threads: those of the service with its
workers, and those of PostgreSQL; each figure is the least of the rounds. Seconds are for 1,000 requests; of the export and the import for 1,000,000 records. A page has 50 records; "cold" pages are of any
tenant and any twelve months, without the response cache; "hot" and "304" are one page repeatedly. The access log is on, to /dev/null. Memory is the proportional set size of all processes of the service.`;

interface Engine {
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
    return { empty, full: await measureSize(opened), imported, served };
  } finally {
    await opened.close();
  }
}

for (const engine of values.engine) {
  const text = toMarkdown(await measure(engine));
  printSection(engine, text);
}

function toMarkdown(engine: Engine): string {
  return [
    description,
    '',
    `${new Date().toISOString().slice(0, 10)}; ${machineFacts()}.`,
    '',
    ...table(['workers', 'work', 'CPU s of the service', 'CPU s of PostgreSQL', 'sum'], costRows(engine)),
    '',
    ...table(['bytes of disk per record', 'of which', 'bytes of log per imported record'], [diskRow(engine)]),
    '',
    ...table(['workers', 'MiB after the start', 'MiB after the load'], memoryRows(engine)),
  ].join('\n');
}

function costRows({ imported, served }: Engine): (string | number)[][] {
  const cells = (service: number, database: number) =>
    [service, database, service + database].map((seconds) => seconds.toPrecision(3));
  return [
    ...served.flatMap(({ workers, costs }) =>
      costs.map((cost) => [workers, cost.name, ...cells(cost.service, cost.database)]),
    ),
    ['-', 'import', ...cells(imported.process, imported.database)],
  ];
}

function diskRow({ empty, full, imported }: Engine): string[] {
  const perRecord = (bytes: number): string => (bytes / (records + imported.records)).toFixed(0);
  const parts = Object.entries(full.parts).map(([part, bytes]) => `${part} ${perRecord(bytes)}`);
  const log = imported.logBytes === undefined ? '-' : imported.logBytes.toFixed(0);
  return [perRecord(full.total - empty.total), parts.join(', ') || '-', log];
}

function memoryRows({ served }: Engine): (string | number)[][] {
  return served.map(({ workers, memory }) => [workers, memory.started.toFixed(0), memory.loaded.toFixed(0)]);
}

function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`);
}
