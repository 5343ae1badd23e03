import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import {
  type FilledStore,
  fetchOnce,
  fill,
  isAlive,
  serveWithWorkers,
  stopAll,
  stopUnderLoad,
  type Workers,
} from '../../../../test/support/workers.ts';

const drawn = drawOne(engines, import.meta.url);

const ownRequest = { 'x-correlation-id': 'every-worker' };

describe.each(drawn)('serve --workers on $engine', ({ engine, openTestStore }) => {
  let opened: FilledStore;
  /** Serves in all tests but the last, which stops it. */
  let workers: Workers;

  beforeAll(async () => {
    opened = await fill(await openTestStore());
    const pool = { DATABASE_POOL_SIZE: '5', DATABASE_URL: `${opened.environment.DATABASE_URL}?application_name=fleet` };
    workers = await serveWithWorkers(opened, engine === 'postgres' ? pool : {});
  });
  afterAll(async () => {
    await stopAll();
    await opened.close();
  });
  const headersWithToken = async () => ({ authorization: `Bearer ${await workers.token()}` });

  test.runIf(engine === 'postgres')('DATABASE_POOL_SIZE is the limit of all workers together', async () => {
    const headers = await headersWithToken();
    const responses = await Promise.all(Array.from({ length: 60 }, () => fetchOnce(workers.reportUrl, headers)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const admin = await connectPostgres(opened.environment.DATABASE_URL);
    const { rows } = await admin.query("select pid from pg_stat_activity where application_name = 'fleet'");
    await admin.end();
    // two for each worker, its listener, and the one of the primary process
    expect(rows).toHaveLength(2 * 2 + 2 + 1);
  });

  test('every worker responds, logs its id, and accepts the tokens of other workers', async () => {
    const tokens = await Promise.all(Array.from({ length: 40 }, () => workers.token()));
    // with high probability each worker gets each of them
    const requests = [...tokens, ...tokens, ...tokens];
    const responses = await Promise.all(
      requests.map((token) => fetchOnce(workers.reportUrl, { ...ownRequest, authorization: `Bearer ${token}` })),
    );
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    // those of other tests may be logged later
    const isOwn = ({ correlation_id: id }: Record<string, unknown>) => id === ownRequest['x-correlation-id'];
    await eventually(() => expect(workers.log().filter(isOwn)).toHaveLength(120));
    const lines = workers.log().filter(({ route }) => route !== undefined);
    expect(new Set(lines.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
    expect(new Set(lines.map(({ pid }) => pid))).toEqual(new Set(workers.pids()));
    const makers = new Set(lines.filter(({ route }) => route === '/oauth2/token').map(({ pid }) => pid));
    expect(makers.size).toBe(2);
    expect(workers.log().filter(({ msg }) => msg === 'serving')).toEqual([expect.objectContaining({ workers: 2 })]);
  });

  test('kill -9 of a worker: the others keep serving, and it is replaced', async () => {
    const headers = await headersWithToken();
    const before = workers.pids();
    const [victim = 0] = before.filter(isAlive);
    process.kill(victim, 'SIGKILL');
    await eventually(() => expect(workers.log()).toContainEqual(expect.objectContaining({ signal: 'SIGKILL' })));
    const meanwhile = await Promise.all(Array.from({ length: 10 }, () => fetchOnce(workers.reportUrl, headers)));
    expect(meanwhile.map(({ status }) => status)).toEqual(Array(10).fill(200));
    await eventually(() => expect(workers.pids()).toHaveLength(before.length + 1));
    expect(workers.log()).toContainEqual(expect.objectContaining({ level: 'warn', pid: victim, signal: 'SIGKILL' }));
    const after = await Promise.all(Array.from({ length: 40 }, () => fetchOnce(workers.reportUrl, headers)));
    expect(after.map(({ status }) => status)).toEqual(Array(40).fill(200));
    await eventually(() => {
      const recent = workers.log().slice(-40);
      expect(new Set(recent.map(({ pid }) => pid))).toEqual(new Set(workers.pids().filter((pid) => pid !== victim)));
    });
  });

  test('SIGTERM under load: each request gets its response, then the process exits with 0', async () => {
    await stopUnderLoad(workers, 'SIGTERM');
  });
});
