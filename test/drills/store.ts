import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Drill } from './drill.ts';
import { type FilledPlace, mountSmallDisk, type Stage, waitsForStore } from './stage.ts';

const importArgs = ['import', '-', '--tenant', 'acme', '--format', 'ndjson'] as const;
const databaseOf = ({ environment }: FilledPlace): string => join(environment.DATA_DIR ?? '', 'subreport.db');

/** Runs statements on an embedded store as another process would. */
function execute(place: FilledPlace, sql: string): void {
  const database = new DatabaseSync(databaseOf(place));
  database.exec('pragma busy_timeout = 60000');
  database.exec(sql);
  database.close();
}

async function totalOf(stage: Stage, place: FilledPlace): Promise<number> {
  const service = await stage.serve(place);
  await service.logIn();
  const total = await service.total();
  await service.stop();
  return total;
}

export const storeDrills: readonly Drill[] = [
  {
    name: 'disk-full',
    fault: 'the disk of the embedded store is full',
    expected:
      'import: exit code 75, says that the disk needs space; report 200; with space again: import exit code 0, all records 1; no restart',
    needs: ['Linux', 'tmpfs'],
    isShort: true,
    async run(stage) {
      const disk = mountSmallDisk(stage, 16, 0);
      const place = await stage.sqlite(1_000, disk.folder);
      const service = await stage.serve(place);
      await service.logIn();
      disk.fill();
      const load = () => stage.run(importArgs, { environment: place.environment, input: rows });
      const rows = stage.rows(4_000);
      const full = await load();
      const reason = /free space/.test(full.stderr) ? 'says that the disk needs space' : full.stderr;
      const report = await service.report();
      disk.free();
      const again = await load();
      const share = (await service.total()) / 5_000;
      return `import: exit code ${full.code}, ${reason}; report ${report}; with space again: import exit code ${again.code}, all records ${share}; no restart`;
    },
  },
  {
    name: 'disk-full-at-start',
    fault: 'the disk of the embedded store is full when the service starts',
    expected: '/healthz 200; /readyz 503 with Retry-After; with space again: /readyz 200, report 200; no restart',
    needs: ['Linux', 'tmpfs'],
    isShort: true,
    async run(stage) {
      const disk = mountSmallDisk(stage, 16, 0);
      const place = await stage.sqlite(1_000, join(disk.folder, 'data'));
      disk.fill();
      const service = await stage.serve(place, { line: waitsForStore });
      const seen = `/healthz ${await service.status('/healthz')}; /readyz ${await service.status('/readyz')}`;
      disk.free();
      const ready = await service.until('200', () => service.status('/readyz'));
      await service.logIn();
      return `${seen}; with space again: /readyz ${ready}, report ${await service.report()}; no restart`;
    },
  },
  {
    name: 'temporary-disk-full',
    fault: 'the disk of temporary files is full while the past is exported, which needs a sorted copy',
    expected:
      'csv 503 with Retry-After, ndjson 503 with Retry-After, parquet 503 with Retry-After; with space again: csv 200',
    needs: ['Linux', 'tmpfs'],
    isShort: true,
    async run(stage) {
      const disk = mountSmallDisk(stage, 16, 0);
      const place = await stage.sqlite(20_000);
      const service = await stage.serve(place, { environment: { SQLITE_TMPDIR: disk.folder } });
      await service.logIn();
      await service.load(stage.rows(5));
      const read = (format: string) => service.report(`all=true&format=${format}&sort=-createdDate&as-of=1`);
      disk.fill();
      const seen: string[] = [];
      for (const format of ['csv', 'ndjson', 'parquet']) seen.push(`${format} ${await read(format)}`);
      disk.free();
      return `${seen.join(', ')}; with space again: csv ${await read('csv')}`;
    },
  },
  {
    name: 'statement-fails',
    fault: 'every statement of a report fails with an unexpected error (a column is renamed)',
    expected: 'report 500 as application/problem+json; /healthz 200; afterwards report 200',
    isShort: true,
    async run(stage) {
      const place = await stage.sqlite();
      const service = await stage.serve(place);
      await service.logIn();
      execute(place, 'alter table subscription rename column record to lost');
      const headers = { authorization: `Bearer ${service.token}` };
      const response = await fetch(`${service.url}/connect-api/v1/subscription`, { headers });
      await response.arrayBuffer();
      const health = await service.status('/healthz');
      execute(place, 'alter table subscription rename column lost to record');
      const type = response.headers.get('content-type')?.split(';')[0];
      return `report ${response.status} as ${type}; /healthz ${health}; afterwards report ${await service.report()}`;
    },
  },
  {
    name: 'flipped-bytes',
    fault: 'a byte of a stored record changes on the disk',
    expected: 'doctor before: exit code 0; after: exit code 1, names the tenant',
    isShort: true,
    async run(stage) {
      const place = await stage.sqlite();
      const { environment } = place;
      const before = await stage.run(['doctor'], { environment });
      const file = databaseOf(place);
      const bytes = readFileSync(file);
      const places: number[] = [];
      for (let at = bytes.indexOf('"iccid":"'); at >= 0; at = bytes.indexOf('"iccid":"', at + 1)) places.push(at + 12);
      const handle = openSync(file, 'r+');
      writeSync(handle, 'X', stage.random.pick(places));
      closeSync(handle);
      const after = await stage.run(['doctor'], { environment });
      const named = /acme/.test(after.stdout + after.stderr) ? 'names the tenant' : after.stdout;
      return `doctor before: exit code ${before.code}; after: exit code ${after.code}, ${named}`;
    },
  },
  {
    name: 'import-stopped',
    fault: 'an import of 20,000 rows is stopped 6 times by SIGTERM or SIGKILL, and started again',
    expected: 'records 20000; doctor: exit code 0',
    async run(stage) {
      const place = await stage.sqlite(0);
      const { environment } = place;
      const file = join(stage.folder, 'rows.ndjson');
      writeFileSync(file, stage.rows(20_000));
      const args = ['import', file, '--tenant', 'acme'];
      for (let round = 0; round < 6; round += 1) {
        const { child, ended } = stage.start(args, { environment });
        await Promise.race([ended, sleep(stage.random.between(100, 1_500))]);
        child.kill(stage.random.pick(['SIGTERM', 'SIGKILL']));
        await ended;
      }
      const { code, stderr } = await stage.run(args, { environment });
      if (code !== 0) return stderr;
      const { code: doctor } = await stage.run(['doctor'], { environment });
      return `records ${await totalOf(stage, place)}; doctor: exit code ${doctor}`;
    },
  },
];
