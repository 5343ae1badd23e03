import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Layout, selectUtf8, utf8Of } from './utf8-column.ts';

const records = fc.array(
  fc.string().map((text) => JSON.stringify({ text })),
  { minLength: 1, maxLength: 5 },
);
const layouts = fc.constantFrom<Layout>('array', 'lines');
const bodyOf = (list: readonly string[], layout: Layout): string =>
  layout === 'array' ? `[${list.join(',')}]` : list.map((record) => `${record}\n`).join('');

describe('the JSON of records as a column', () => {
  test('on PostgreSQL is the body, and leaves the received bytes as they are (property)', () => {
    fc.assert(
      fc.property(records, layouts, fc.uint8Array({ minLength: 8 }), (list, layout, around) => {
        const value = Buffer.from(list.join(layout === 'array' ? ',' : '\n'));
        const received = Buffer.concat([around, value, around]);
        const row = { utf8_bytes: received.subarray(around.length, around.length + value.length) as never };
        expect(utf8Of('postgres', row, layout).toString()).toBe(bodyOf(list, layout));
        expect(received).toEqual(Buffer.concat([around, value, around]));
      }),
    );
  });

  test('on SQLite is the body (property)', () => {
    const database = new DatabaseSync(':memory:');
    fc.assert(
      fc.property(records, layouts, (list, layout) => {
        const rows = list.map(() => 'select ? as record').join(' union all ');
        const row = database.prepare(`select ${selectUtf8('sqlite', layout)} from (${rows})`).get(...list);
        expect(utf8Of('sqlite', row as never, layout).toString()).toBe(bodyOf(list, layout));
      }),
    );
  });

  test.each(['sqlite', 'postgres'] as const)('is empty without records on %s', (engine) => {
    expect(utf8Of(engine, { utf8_bytes: null }, 'array')).toHaveLength(0);
  });
});
