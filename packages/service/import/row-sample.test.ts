import { expect, test } from 'vitest';
import { RowSample } from './row-sample.ts';
import { syntheticRows } from './synthetic-rows.ts';

const good = [...syntheticRows({ count: 3_000, seed: 1, until: 1_767_225_600 })].map(({ iccid }) => iccid);
/** The same digits with another last one. */
const mistyped = (iccid: string): string => iccid.slice(0, -1) + ((Number(iccid.at(-1)) + 1) % 10);

function warningsOf(iccids: readonly string[]): readonly string[] {
  const sample = new RowSample();
  for (const iccid of iccids) sample.add({ iccid, record: '{}' } as never);
  return sample.warnings;
}

test.each([
  ['none for good ones', good, []],
  ['none for few', [...good, ...good.slice(0, 4).map(mistyped)], []],
  ['none below 5 %', [...good.slice(0, 1_000), ...good.slice(0, 40).map(mistyped)], []],
  [
    'typing errors from 5 % on',
    [...good.slice(0, 95), ...good.slice(0, 5).map(mistyped)],
    ['5 of 100 ICCIDs with 19 digits do not fit'],
  ],
  ['none for a source without check digits', good.slice(0, 100).map((iccid) => iccid.slice(0, -1)), []],
  [
    'rounded ones',
    [...good.slice(0, 95), ...good.slice(0, 5).map((iccid) => `${iccid.slice(0, 15)}0000`)],
    ['5 of 100 ICCIDs end in zeros'],
  ],
  [
    'each length for itself',
    [...good.slice(0, 50), ...good.slice(0, 50).map((iccid) => `${iccid}0`), ...good.slice(0, 5).map(mistyped)],
    ['5 of 55 ICCIDs with 19'],
  ],
  [
    'rare lengths up to 5 %, together',
    [...good.slice(0, 95), ...good.slice(0, 4).map((iccid) => `${iccid}0`), good[0]?.slice(0, 18) ?? ''],
    ['5 of 100 ICCIDs have 18 or 20 digits, a length that at most 1 of 20 have'],
  ],
  ['none for few of a rare length', [...good.slice(0, 96), ...good.slice(0, 4).map((iccid) => `${iccid}0`)], []],
  ['none for a length above 5 %', [...good.slice(0, 94), ...good.slice(0, 5).map((iccid) => `${iccid}0`)], []],
])('an import warns of ICCIDs: %s', (_title, iccids, warnings) => {
  expect(warningsOf(iccids)).toEqual(warnings.map((each) => expect.stringContaining(each)));
});

test('a sample has the first records', () => {
  const sample = new RowSample();
  for (let n = 0; n < 5; n += 1) sample.add({ iccid: good[n], record: `{"id":${n}}` } as never);
  expect(sample.records).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
});
