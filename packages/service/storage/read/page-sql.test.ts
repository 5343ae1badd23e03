import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noRecords, recordsQuery } from './page-sql.ts';

const created = { dateColumn: 'created_date' } as const;
const ascending = { column: 'created_date', descending: false } as const;

describe('the records of a page', () => {
  const wanted = { filter: created, start: { kind: 'first' }, limit: 10, isReversed: false, layout: 'array' } as const;
  const bytes = Buffer.from('{"x":"1 2"},{}');
  const row = { utf8_bytes: bytes as never, least_date: -6, greatest_date: 5, ids: 'a b\nc' };

  test('are bytes, with the keys of the first and the last one', () => {
    const [first, last] = [
      { date: -6, id: 'a b' },
      { date: 5, id: 'c' },
    ];
    expect(recordsQuery('sqlite', { ...wanted, order: ascending }).toRecords(row)).toEqual({
      bytes,
      count: 2,
      first,
      last,
    });
  });

  test('are counted, and have the ids of the first and the last one (property)', () => {
    const ids = fc.array(fc.stringMatching(/^[a-z0-9=_-]{1,30}$/), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(ids, (list) => {
        const query = recordsQuery('sqlite', { ...wanted, order: ascending });
        const { count, first, last } = query.toRecords({ ...row, ids: list.join('\n') });
        expect([count, first?.id, last?.id]).toEqual([list.length, list[0], list.at(-1)]);
      }),
    );
  });

  test('have their keys in the order in which they are returned', () => {
    const back = recordsQuery('sqlite', { ...wanted, order: ascending, isReversed: true }).toRecords(row);
    expect([back.first?.date, back.last?.date]).toEqual([5, -6]);
  });

  test.each([[{ ids: null }], [undefined]])('are none in the row %j', (none) => {
    expect(recordsQuery('sqlite', { ...wanted, order: ascending }).toRecords(none)).toEqual(noRecords);
  });
});
