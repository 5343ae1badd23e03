import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SqliteConnection } from './connection.ts';

let connection: SqliteConnection;
beforeAll(() => {
  connection = new SqliteConnection(':memory:', 0);
  connection.run('create table item (tenant, ordinal, name, kind); create index by_name on item (tenant, name)');
  const rows = Array.from({ length: 60 }, (_, index) => `('a', ${(index * 37) % 60}, 'ö${index}', ${index % 3})`);
  connection.run(`insert into item values ${rows.join()}`);
});
afterAll(() => connection.close());

const statements = {
  'in the order of an index': 'select name from item where tenant = $1 and kind < $2 order by name desc',
  'in an order that must be sorted': 'select name from item where tenant = $1 and kind < $2 order by ordinal',
};

test.each(Object.entries(statements))('lines are those of the rows %s (property)', (_order, sql) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 70 }), (kinds, batchRows) => {
      const names = connection.all(sql, ['a', kinds]).map(({ name }) => String(name));
      const batches = [...connection.lineBatches(sql, ['a', kinds], batchRows)];
      expect(batches.map(({ lines }) => lines).join('')).toBe(names.map((name) => `${name}\n`).join(''));
      expect(batches.map(({ rows }) => rows)).toEqual(batches.map(({ lines }) => lines.split('\n').length - 1));
      expect(batches.slice(0, -1).every(({ rows }) => rows === batchRows)).toBe(true);
    }),
  );
});

test('lines that are not read to their end leave the connection as it was', () => {
  for (const sql of Object.values(statements)) {
    connection.run('begin');
    const lines = connection.lineBatches(sql, ['a', 3], 7);
    expect(lines.next().value).toMatchObject({ rows: 7 });
    lines.return(undefined);
    connection.run('rollback');
    connection.run("insert into item values ('b', 1, 'b', 1); delete from item where tenant = 'b'");
  }
});
