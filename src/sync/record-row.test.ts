import { expect, test } from 'vitest';
import type { Subscription } from '../client/index.ts';
import { columns, lineOf, rowOf } from './record-row.ts';

const line =
  '{"id":"a","status":"ACTIVE","activationDate":"2024-05-01T08:00:04Z","expirationDate":"2024-05-31T08:00:04Z","createdDate":"2024-05-01T08:00:00Z","product":{"id":"p","name":"1 GB","period":30,"period_unit":"DAYS","plan_id":"q"},"iccid":"8944500102198304826","device_id":"d","auto_renew":"false"}';
const parse = (text: string) => JSON.parse(text) as Subscription;

test.each([line, line.replace('"status":"ACTIVE",', ''), line.replace('"false"', '"true"')])(
  'a row has a cell for each column, and gives the line of the export again: %s',
  (text) => {
    const row = rowOf(parse(text), text);
    expect(row).toHaveLength(columns.length);
    expect(lineOf(row)).toBe(text);
  },
);

test.each([
  line.replace('"iccid"', '"later_field":1,"iccid"'),
  line.replace('"DAYS"', '"DAYS","later_field":1'),
  line.replace('"false"', '"maybe"'),
])('a record with what this version does not know is an error, not a copy without it: %s', (text) => {
  expect(() => rowOf(parse(text), text)).toThrow(/^Cannot copy the record 'a': it must have the fields and values/);
});
