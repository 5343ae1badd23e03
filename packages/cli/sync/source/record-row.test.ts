import { expect, test } from 'vitest';
import { columns, lineOf, rowOf } from './record-row.ts';

const line =
  '{"id":"a","status":"ACTIVE","activationDate":"2024-05-01T08:00:04Z","expirationDate":"2024-05-31T08:00:04Z","createdDate":"2024-05-01T08:00:00Z","product":{"id":"p","name":"1 GB","period":30,"period_unit":"DAYS","plan_id":"q"},"iccid":"8944500102198304826","device_id":"d","auto_renew":"false"}';

const named = (name: string): string => line.replace('1 GB', name);

test.each([
  line,
  line.replace('"status":"ACTIVE",', ''),
  line.replace('"false"', '"true"'),
  line.replace(',"name":"1 GB"', ''),
  line.replace(',"period":30', ''),
  line.replace(',"period_unit":"DAYS"', ''),
  line.replace(',"plan_id":"q"', ''),
  line.replace(/\{"id":"p".*?\}/, '{"id":"p"}'),
  line.replace('"plan_id":"q"', '"plan_id":""'),
  line.replace('ACTIVE', 'not \\"started\\"'),
  line.replace('30,', '0,'),
  line.replace('30,', '-1,'),
  named(''),
  named('\u65e5\u672c 30 \u65e5 \u{1f5fe}\u2028'),
  named(JSON.stringify('"quoted" \\N\t\n\u0000\ud800').slice(1, -1)),
])('a row has a cell for each column, and gives the line of the export again: %s', (text) => {
  const row = rowOf(text);
  expect(row).toHaveLength(columns.length);
  expect(lineOf(row)).toBe(text);
});

test.each([
  line.replace('"iccid"', '"later_field":1,"iccid"'),
  line.replace('"DAYS"', '"DAYS","later_field":1'),
  line.replace('"false"', '"maybe"'),
  line.replace('30,', '-0,'),
  line.replace('30,', '3e1,'),
  line.replace('30,', '30.0,'),
  line.replace('30,', '12345678901234567890,'),
  line.replace('{"id":"a",', '{"id":"a","id":"a",'),
  line.replace('"DAYS","plan_id"', '"DAYS", "plan_id"'),
  named('\\u0041'),
  `${line} `,
])('a record with what this version does not know is an error, not a copy without it: %s', (text) => {
  expect(() => rowOf(text)).toThrow(/^Cannot copy the record 'a': it must have the fields and values/);
});
