import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { eventually, idleMsMax } from '../../../../test/support/eventually.ts';
import { openSqliteStore } from '../../storage/sqlite/store.ts';
import { findDoctorResult } from '../../storage/tables/doctor-result.ts';
import { fillTenant } from '../../test/backup/stores.ts';
import { readConfig } from '../config.ts';
import { checkRegularly } from './check-store.ts';

afterEach(() => vi.useRealTimers());

test(
  'a flipped byte in a record causes an error line at the next scheduled check, without a restart',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-check-'));
    const store = openSqliteStore(folder);
    await store.migrate();
    await fillTenant(store, 'acme', 20);
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
    checkRegularly(readConfig({ DATA_DIR: folder }), pino(sink));
    vi.advanceTimersByTime(600_000);
    vi.useRealTimers();
    await eventually(() => expect(lines.join()).toContain('the store was checked'), idleMsMax);
    expect(await findDoctorResult(store)).toMatchObject({ problems: 0 });
    const database = new DatabaseSync(join(folder, 'subreport.db'));
    database.exec(`update subscription set record = replace(record, '"8944', '"8945') where id = 'id7'`);
    database.close();
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
    checkRegularly(readConfig({ DATA_DIR: folder }), pino(sink));
    vi.advanceTimersByTime(600_000);
    vi.useRealTimers();
    await eventually(() => expect(lines.join()).toContain("'id7' differs from its columns in iccid"), idleMsMax);
    expect(await findDoctorResult(store)).toMatchObject({ problems: 1 });
    await store.close();
    rmSync(folder, { recursive: true });
  },
  2 * idleMsMax,
);

test('a service that stops does not wait for a check', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-check-'));
  const store = openSqliteStore(folder);
  await store.migrate();
  await store.close();
  const script = `
    const { runDoctorProcess } = await import(${JSON.stringify(import.meta.resolve('./check-store.ts'))});
    const { readConfig } = await import(${JSON.stringify(import.meta.resolve('../config.ts'))});
    runDoctorProcess(readConfig({ DATA_DIR: ${JSON.stringify(folder)} })).then(() => console.log('waited'));
    console.log('started');`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect(ended).toMatchObject({ status: 0, stdout: 'started\n', stderr: '' });
  rmSync(folder, { recursive: true });
});

test('nothing is checked on PostgreSQL, which has its own checksums', () => {
  vi.useFakeTimers();
  const logger = pino({ level: 'silent' });
  checkRegularly(readConfig({ DATABASE_URL: 'postgres://localhost/subreport' }), logger);
  expect(vi.getTimerCount()).toBe(0);
});
