import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { hasTools } from '../../../test/support/has-tools.ts';
import { instantOf, readWorkbook } from '../../../test/support/read-workbook.ts';
import { localDateTime } from '../../../test/support/zoned.ts';
import { recordColumns } from '../../contract/csv.ts';
import { fieldWords } from '../../contract/field-words.ts';
import { recordFields } from '../../contract/record-fields.ts';
import type { Subscription } from '../../contract/subscription.ts';
import { findZone } from '../../contract/zone.ts';
import { writeWorkbook } from './workbook.ts';

const record: Subscription = {
  id: 'c3Vic2NyaXB0aW9uLTAwMDE=',
  status: 'ACTIVE',
  activationDate: '2024-05-01T08:00:04Z',
  expirationDate: '2024-05-31T23:59:59Z',
  createdDate: '2024-02-29T00:00:00Z',
  product: { id: 'cHJvZHVjdC0zMA', name: 'Europe 5 GB', period: 30, period_unit: 'DAYS', plan_id: 'cGxhbg' },
  iccid: '8944500102198304826',
  device_id: 'device-000417',
  auto_renew: 'true',
};

const linesOf = (...records: Subscription[]) =>
  new Response(records.map((each) => `${JSON.stringify(each)}\n`).join('')).body as ReadableStream<
    Uint8Array<ArrayBuffer>
  >;
const fileOf = async (...records: Subscription[]) =>
  Buffer.from(await new Response(writeWorkbook(linesOf(...records))).arrayBuffer());
const rowsOf = async (...records: Subscription[]) => readWorkbook(await fileOf(...records));
const cellOf = async (fields: Partial<Subscription>, column: string) =>
  (await rowsOf({ ...record, ...fields }))[1]?.[recordColumns.indexOf(column)];

/** Headings of people's words. */
const headingOf: Readonly<Record<string, string>> = {
  id: 'Id',
  status: 'Status',
  activationDate: 'Activated (UTC)',
  expirationDate: 'Ends (UTC)',
  createdDate: 'Created (UTC)',
  'product.id': 'Product id',
  'product.name': 'Product',
  'product.period': 'Period',
  'product.period_unit': 'Period unit',
  'product.plan_id': 'Plan id',
  iccid: 'ICCID',
  device_id: 'Device',
  auto_renew: 'Renews',
};

/** Prints the texts of the cells of each row. */
const readTexts = `
import io, json, sys, zipfile, xml.etree.ElementTree as tree
sheet = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())).read("xl/worksheets/sheet1.xml")
tag = lambda name: "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}" + name
rows = tree.fromstring(sheet).iter(tag("row"))
print(json.dumps([["".join(cell.itertext()) for cell in row.iter(tag("c"))] for row in rows]))
`;

describe('a workbook', () => {
  test('has a row of headings and a row for each record, with the columns of CSV', async () => {
    const [headings, ...rows] = await rowsOf(record, { ...record, id: 'b' });
    expect(headings?.map(({ value }) => value)).toEqual(
      recordFields.map(
        ({ name, type }) => headingOf[name] ?? `${fieldWords(name)}${type === 'instant' ? ' (UTC)' : ''}`,
      ),
    );
    expect(rows.map(([id]) => id?.value)).toEqual([record.id, 'b']);
  });

  test('has the columns of a list of fields in its order, and an empty cell for what a record lacks', async () => {
    const given = [
      { iccid: record.iccid, product: { period: 30 }, expirationDate: record.expirationDate },
      { product: {} },
    ];
    const fields = ['expirationDate', 'product.period', 'iccid'];
    const workbook = writeWorkbook(linesOf(...(given as unknown as Subscription[])), { fields });
    const [headings, first, second] = readWorkbook(Buffer.from(await new Response(workbook).arrayBuffer()));
    expect(headings?.map(({ value }) => value)).toEqual(['Ends (UTC)', 'Period', 'ICCID']);
    expect([first?.[1]?.value, first?.[2]?.value]).toEqual(['30', record.iccid]);
    expect(first?.[0] && instantOf(first[0])).toBe(record.expirationDate);
    expect((second ?? []).filter(({ value }) => value !== undefined && value !== '')).toEqual([]);
  });

  test('has an ICCID and the ids as text, so that no digit is lost', async () => {
    for (const column of ['id', 'product.id', 'product.plan_id', 'iccid', 'device_id'] as const)
      expect(await cellOf({}, column)).toMatchObject({ type: 'inlineStr', format: '@' });
    expect(await cellOf({}, 'iccid')).toMatchObject({ value: '8944500102198304826' });
  });

  test('has dates as numbers in UTC with a date format', async () => {
    for (const column of ['activationDate', 'expirationDate', 'createdDate'] as const) {
      const cell = await cellOf({}, column);
      expect(cell).toMatchObject({ type: undefined, format: 'yyyy-mm-dd hh:mm:ss' });
      expect(cell && instantOf(cell)).toBe(record[column]);
    }
  });

  test('has dates as numbers in a zone, which the headings name, and as text what they cannot be', async () => {
    const dates = ['2024-03-31T00:59:59Z', '2024-03-31T01:00:00Z', '2024-10-27T00:30:00Z', '2024-10-27T01:30:00Z'];
    const records = dates.map((createdDate) => ({ ...record, createdDate }));
    for (const name of ['Europe/Berlin', 'America/St_Johns', 'UTC']) {
      const fields = ['createdDate', 'id'];
      const workbook = writeWorkbook(linesOf(...records), { fields, zone: findZone(name) });
      const [headings, ...rows] = readWorkbook(Buffer.from(await new Response(workbook).arrayBuffer()));
      expect(headings?.map(({ value }) => value)).toEqual([`Created (${name})`, 'Id']);
      expect(rows.map(([cell]) => cell && instantOf(cell).slice(0, 19))).toEqual(
        dates.map((date) => localDateTime(date, name).slice(0, 19)),
      );
      for (const [cell] of rows) expect(cell).toMatchObject({ type: undefined, format: 'yyyy-mm-dd hh:mm:ss' });
    }
    const others = { ...record, createdDate: '1899-12-31T23:30:00Z', expirationDate: '9999-12-31T23:59:59Z' };
    const workbook = writeWorkbook(linesOf(others), {
      fields: ['createdDate', 'expirationDate'],
      zone: findZone('Asia/Tokyo'),
    });
    const [, [created, ends] = []] = readWorkbook(Buffer.from(await new Response(workbook).arrayBuffer()));
    expect([created?.value, ends?.value]).toEqual(['1900-01-01T08:30:00+09:00', '9999-12-31T23:59:59Z']);
  });

  test('has a date before March 1900 as text, which spreadsheets count differently', async () => {
    for (const createdDate of ['1899-12-31T00:00:00Z', '1900-02-28T23:59:59Z'])
      expect(await cellOf({ createdDate }, 'createdDate')).toMatchObject({ type: 'inlineStr', value: createdDate });
    expect(await cellOf({ createdDate: '1900-03-01T00:00:00Z' }, 'createdDate')).toMatchObject({ value: '61' });
  });

  test('has the period as a number and auto-renew as a boolean', async () => {
    expect(await cellOf({}, 'product.period')).toMatchObject({ type: undefined, value: '30' });
    expect(await cellOf({}, 'auto_renew')).toMatchObject({ type: 'b', value: '1' });
    expect(await cellOf({ auto_renew: 'perhaps' }, 'auto_renew')).toMatchObject({ value: 'perhaps' });
  });

  test.each([
    '=1+1',
    '+A1',
    '-2',
    '@SUM(A1)',
    '<b>&"',
    'مرحبا 🎉',
    ' spaces ',
    '_x0041_',
    'tab\there',
    '\ufffe\uffff',
    '_xFFFE_',
    '\ud800',
    '\r\n',
  ])('has %j as the same text and never as a formula', async (device_id) => {
    expect(await cellOf({ device_id }, 'device_id')).toMatchObject({ type: 'inlineStr', value: device_id });
  });

  test.skipIf(!hasTools('python3'))('has every character as itself for another reader of ZIP and XML', async () => {
    const blockSize = 256;
    const blocks = Array.from({ length: 0x1_0000 / blockSize }, (_, block) =>
      String.fromCharCode(...Array.from({ length: blockSize }, (_, index) => block * blockSize + index)),
    );
    const values = [...blocks, '_xFFFE_ _x005F_xFFFE_', '\u{1fffe}\u{10ffff}'];
    const file = await fileOf(...values.map((device_id) => ({ ...record, device_id })));
    const { stdout, stderr } = spawnSync('python3', ['-c', readTexts], { input: file, maxBuffer: 2 ** 26 });
    expect(String(stderr)).toBe('');
    const read: string[][] = JSON.parse(String(stdout));
    const unescaped = (text: string): string =>
      text.replaceAll(/_x([0-9A-F]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
    const column = recordColumns.indexOf('device_id');
    expect(read.slice(1).map((row) => unescaped(row[column] ?? ''))).toEqual(values);
  });

  test('has an empty cell for a record without a status, and the other cells in their columns', async () => {
    const { status: _, ...rest } = record;
    const [, row] = await rowsOf(rest);
    expect(row?.[recordColumns.indexOf('status')]?.value ?? '').toBe('');
    expect(row?.[recordColumns.indexOf('auto_renew')]).toMatchObject({ type: 'b' });
  });
});
