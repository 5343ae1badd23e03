import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reportParameters } from '../../contract/query.ts';
import { defaultPageLimits } from '../../contract/report.ts';
import { exampleOf } from '../../contract/schema.ts';
import { type Cursor, decodeCursor, encodeCursor, fingerprintOf } from './cursor.ts';

const cursors: fc.Arbitrary<Cursor> = fc.record(
  {
    direction: fc.constantFrom('after', 'before'),
    key: fc.record({
      date: fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
      id: fc.stringMatching(/^[A-Za-z0-9_-]{1,255}={0,2}$/),
    }),
    page: fc.nat({ max: 1_000_000_000 }),
    query: fc.string().map(fingerprintOf),
    nowSeconds: fc.nat({ max: 4_000_000_000 }),
  },
  { requiredKeys: ['direction', 'key', 'page', 'query'] },
);

test('the example of the contract is a cursor', () => {
  expect(decodeCursor(String(exampleOf(reportParameters(defaultPageLimits).cursor)))).toMatchObject({ page: 2 });
});

test('decoding an encoded cursor returns it, and its encoding is URL-safe (property)', () => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = encodeCursor(cursor);
      expect(text).toMatch(/^[A-Za-z0-9_-]{1,512}$/);
      expect(decodeCursor(text)).toEqual(cursor);
    }),
  );
});

test('the longest id fits in a cursor of 512 characters', () => {
  const key = { date: -62_135_596_800, id: `${'a'.repeat(255)}==` };
  const cursor: Cursor = { direction: 'before', key, page: 1_000_000_000, query: 'zzzzzzz', nowSeconds: 4_000_000_000 };
  expect(encodeCursor(cursor).length).toBeLessThanOrEqual(512);
  expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
});

test('any other string decodes to undefined without an error (property)', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.base64String(),
        fc.json().map((json) => Buffer.from(json).toString('base64url')),
      ),
      (text) => {
        const cursor = decodeCursor(text);
        if (cursor !== undefined) expect(encodeCursor(cursor)).toBe(text);
      },
    ),
  );
});

test('a truncated, extended or changed cursor is rejected or decodes to another valid one (property)', () => {
  fc.assert(
    fc.property(cursors, fc.nat(), (cursor, at) => {
      const text = encodeCursor(cursor);
      const cut = text.slice(0, at % text.length);
      expect(decodeCursor(cut)).toBeUndefined();
      expect(decodeCursor(`${text}=`)).toBeUndefined();
      expect(decodeCursor(` ${text}`)).toBeUndefined();
    }),
  );
});

test.each([
  [[2, 1, 0, 'id', 1, 'q']],
  [[1, 2, 0, 'id', 1, 'q']],
  [[1, 1, '0', 'id', 1, 'q']],
  [[1, 1, 0.5, 'id', 1, 'q']],
  [[1, 1, 0, 7, 1, 'q']],
  [[1, 1, 0, 'id', -1, 'q']],
  [[1, 1, 0, 'id', 1, null]],
  [[1, 1, 0, 'id', 1]],
  [[1, 1, 0, 'id', 1, 'q', '1']],
  [[1, 1, 0, 'id', 1, 'q', -1]],
  [[1, 1, 0, 'id', 1, 'q', 1e15]],
  [[1, 1, 0, 'id', 1, 'q', 1, 1]],
  [{ 0: 1 }],
  [null],
])('%j is not a cursor', (fields) => {
  expect(decodeCursor(Buffer.from(JSON.stringify(fields)).toString('base64url'))).toBeUndefined();
});

test('different strings have different fingerprints', () => {
  expect(new Set(['', 'a', 'b', 'ab', 'ba'].map(fingerprintOf)).size).toBe(5);
});
