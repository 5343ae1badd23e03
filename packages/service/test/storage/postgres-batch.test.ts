import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres, type TestStore } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { type BatchStatement, runBatch } from '../../storage/postgres/wire/batch.ts';
import { readMessages } from '../../storage/postgres/wire/driver.ts';
import { LineQuery } from '../../storage/postgres/wire/line-query.ts';

const statement = (text: string, ...values: BatchStatement['values']): BatchStatement => ({
  name: text.slice(0, 60), // the server truncates longer names
  text,
  values,
});
const number = (value: number) => statement('select cast($1 as bigint) as n, null as nothing', value);
const inverse = (value: number) => statement('select 1 / cast($1 as integer) as inverse', value);
const word = (value: string | null) => statement('select cast($1 as text) as word', value);

describe('a batch of statements on PostgreSQL', () => {
  let opened: TestStore;
  let client: pg.Client;

  beforeAll(async () => {
    opened = await openPostgres(testRole);
    client = await connect();
  });
  afterAll(async () => {
    await client.end();
    await opened.close();
  });

  async function connect(options: pg.ClientConfig = {}): Promise<pg.Client> {
    const { DATABASE_URL } = opened.environment;
    const connected = new pg.Client({ connectionString: DATABASE_URL, pipeline: true, ...options });
    connected.on('error', () => undefined);
    await connected.connect();
    readMessages(connected);
    return connected;
  }

  const prepared = async () =>
    (await client.query('select name from pg_prepared_statements order by name')).rows.length;

  test('returns the rows of each statement, which may be none, and prepares each once', async () => {
    const batch = [number(1), statement('set local work_mem = 1024'), number(2), word(null), word('é\u{1F600}')];
    for (let round = 0; round < 2; round += 1) {
      expect(await runBatch(client, batch)).toEqual([
        [{ n: 1, nothing: null }],
        [],
        [{ n: 2, nothing: null }],
        [{ word: null }],
        [{ word: 'é\u{1F600}' }],
      ]);
      expect(await prepared()).toBe(3);
    }
    expect(await runBatch(client, [statement('select n from generate_series(1, 3) as n')])).toEqual([
      [{ n: 1 }, { n: 2 }, { n: 3 }],
    ]);
  });

  test('that collects lines ends each one, whatever memory is left for it', async () => {
    for (let bytes = 0; bytes <= 12; bytes += 1) {
      const query = new LineQuery("select * from (values ('abcd'), ('efgh')) as words", Buffer.alloc(bytes, '-'));
      const { rows, lines } = await query.run(client);
      expect([rows, lines.toString()], `with ${bytes} bytes`).toEqual([2, 'abcd\nefgh\n']);
    }
  });

  test('reads integers of 64 bits as numbers', async () => {
    const numbers = [0, -1, 10, -987_654_321, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
    const rows = await runBatch(client, numbers.map(number));
    expect(rows).toEqual(numbers.map((n) => [{ n, nothing: null }]));
  });

  test('is one transaction', async () => {
    const now = statement('select txid_current() as id');
    const [[first] = [], [second] = []] = await runBatch(client, [now, now]);
    expect(first?.id).toBe(second?.id);
  });

  test.each([
    ['the first of them', [inverse(0), statement('select 5 as five'), word('late')]],
    ['one between two new ones', [statement('select 6 as six'), inverse(0), statement('select 7 as seven')]],
    ['the last', [number(3), statement('select 8 as eight'), inverse(0)]],
    ['one that cannot be prepared', [number(4), statement('select nowhere.n'), statement('select 9 as nine')]],
  ])('fails with the error of %s, and the next batch works', async (_where, batch) => {
    await expect(runBatch(client, batch)).rejects.toMatchObject({ code: expect.stringMatching(/^(22012|42P01)$/) });
    const good = batch.filter(({ text, values }) => !text.includes('nowhere') && values[0] !== 0);
    expect(await runBatch(client, [...good, inverse(1)])).toHaveLength(good.length + 1);
    expect(await runBatch(client, good)).toHaveLength(good.length);
  });

  test('shares a connection with others of prepared statements without mixing their rows', async () => {
    const batches = Array.from({ length: 20 }, (_, n) => [number(n), n % 5 === 3 ? inverse(0) : word(`word ${n}`)]);
    const outcomes = await Promise.allSettled(batches.map((batch) => runBatch(client, batch)));
    expect(outcomes.map(({ status }) => status)).toEqual(
      batches.map((_, n) => (n % 5 === 3 ? 'rejected' : 'fulfilled')),
    );
    for (const [n, outcome] of outcomes.entries())
      if (outcome.status === 'fulfilled')
        expect(outcome.value).toEqual([[{ n, nothing: null }], [{ word: `word ${n}` }]]);
  });

  test('fails if it takes too long, as do the batches that wait after it', async () => {
    const limited = await connect({ query_timeout: 1_500 });
    const slow = runBatch(limited, [number(1), statement('select pg_sleep(6)')]);
    const behind = runBatch(limited, [number(2)]);
    await expect(slow).rejects.toThrow('timeout');
    await expect(behind).rejects.toThrow(/timeout|terminated/);
    await limited.end();
  });
});
