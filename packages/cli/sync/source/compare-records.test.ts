import { expect, test } from 'vitest';
import { compareRecords } from './compare-records.ts';

const lineOf = (number: number, day: string): string =>
  JSON.stringify({
    id: `id_${String(number).padStart(4, '0')}`,
    createdDate: `2026-11-${day}T00:00:00Z`,
    product: { id: 'p' },
    iccid: '8944500102198304826',
  });

async function* sideOf(count: number, day: string) {
  yield Array.from({ length: count }, (_, number) => lineOf(number, day));
}

const compare = (count: number) => compareRecords(sideOf(count, '01'), sideOf(count, '02'), []);

test('at most 1,000 records of a side wait for their counterpart: others that have moved count as two', async () => {
  expect(await compare(1_000)).toMatchObject({ copyRows: 1_000, reportRows: 1_000, differences: 1_000 });
  expect(await compare(1_500)).toMatchObject({ copyRows: 1_500, reportRows: 1_500, differences: 1_000 + 2 * 500 });
});

test('a record that is in one side twice, with others between, counts each time', async () => {
  async function* sideWith(...days: readonly string[]) {
    yield days.map((day, at) => lineOf(at % 2, day));
  }
  const twice = ['01', '02', '03'];
  expect(await compareRecords(sideWith(...twice), sideWith(), [])).toMatchObject({ copyRows: 3, differences: 3 });
  expect(await compareRecords(sideWith(), sideWith(...twice), [])).toMatchObject({ reportRows: 3, differences: 3 });
});
