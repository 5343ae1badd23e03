import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import iccidForms from '../../../test/corpus/iccid-forms.json' with { type: 'json' };
import { recordFields } from '../../contract/record-fields.ts';
import type { SourceRow } from './check-row.ts';
import { csvColumns } from './csv-layout.ts';
import { type CsvReading, readCsv } from './read-csv.ts';

const header = csvColumns.join(',');
const cells: Readonly<Record<string, string>> = {
  id: 'a',
  status: 'ACTIVE',
  activationDate: '2024-05-01T08:00:00Z',
  expirationDate: '2024-05-31T08:00:00Z',
  createdDate: '2024-05-01T07:59:00Z',
  'product.id': 'p',
  'product.name': 'Europe, "big"',
  'product.period': '30',
  'product.period_unit': 'DAYS',
  'product.plan_id': 'plan',
  iccid: '8944500102198304826',
  device_id: '',
  auto_renew: 'TRUE',
  email: '',
};
const lineOf = (changed: Readonly<Record<string, string>> = {}): string =>
  stringify([csvColumns.map((column) => changed[column] ?? cells[column] ?? '')]).trimEnd();
const value = {
  id: 'a',
  status: 'ACTIVE',
  activationDate: '2024-05-01T08:00:00Z',
  expirationDate: '2024-05-31T08:00:00Z',
  createdDate: '2024-05-01T07:59:00Z',
  product: { id: 'p', name: 'Europe, "big"', period: '30', period_unit: 'DAYS', plan_id: 'plan' },
  iccid: '8944500102198304826',
  device_id: '',
  auto_renew: 'TRUE',
};

async function read(text: string | Buffer, reading: CsvReading = {}): Promise<SourceRow[]> {
  const source = (async function* () {
    yield Buffer.from(text as string);
  })();
  return Array.fromAsync(readCsv(source, reading));
}

const piecesOf = (text: string, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, n) => Buffer.from(text.slice(n * size, (n + 1) * size)));

describe('reading CSV', () => {
  test('rejects a row longer than 16 KiB, and reads one as long', async () => {
    const shorter = lineOf({ device_id: 'x'.repeat(16_000) });
    expect(await read(`${header}\n${shorter}\n`)).toHaveLength(1);
    await expect(read(`${header}\n${lineOf({ device_id: 'x'.repeat(16_385) })}\n`)).rejects.toMatchObject({
      code: 'UNREADABLE',
      message: expect.stringContaining('16384'),
    });
  });

  test('rejects 4 MiB without a row', async () => {
    const source = (async function* () {
      yield Buffer.from(`${header}\n${lineOf()}\n`);
      for (let n = 0; n < 100; n += 1) yield Buffer.alloc(65_536, '\n');
    })();
    await expect(Array.fromAsync(readCsv(source))).rejects.toMatchObject({ code: 'UNREADABLE' });
  });

  test('reads little of a source whose first line does not end', async () => {
    let chunks = 0;
    const source = (async function* () {
      for (; chunks < 1_000; chunks += 1) yield Buffer.alloc(4_096, 'x');
    })();
    await expect(Array.fromAsync(readCsv(source))).rejects.toMatchObject({ code: 'UNREADABLE' });
    expect(chunks).toBeLessThan(100);
  });

  test('yields the same rows if its columns are separated by semicolons, in pieces of any size', async () => {
    const semicolons = [
      `\ufeff${csvColumns.map((name) => `"${name}"`).join(';')}`,
      stringify([csvColumns.map((column) => cells[column] ?? '')], { delimiter: ';' }).trimEnd(),
      stringify([csvColumns.map((column) => ({ ...cells, 'product.name': 'a;b,c' })[column] ?? '')], {
        delimiter: ';',
      }).trimEnd(),
    ].join('\r\n');
    for (const size of [1, 7, 100_000]) {
      const rows = await Array.fromAsync(readCsv(Readable.from(piecesOf(semicolons, size))));
      expect(rows.map(({ content }) => content)).toEqual([
        { value },
        { value: { ...value, product: { ...value.product, name: 'a;b,c' } } },
      ]);
    }
  });

  test('rejects a header with commas and semicolons, and reads a source of one line or none', async () => {
    await expect(read(`${header.replace(',', ';')}\n${lineOf()}\n`)).rejects.toMatchObject({
      message: expect.stringContaining("'id;status' is not a column"),
    });
    expect(await read(csvColumns.join(';'))).toEqual([]);
  });

  test.each([
    [',', '"a,""b"'],
    [';', '"a;""b"'],
  ])(
    'separated by %s, an empty cell is an absent field, and a quoted one an empty string',
    async (separator, quoted) => {
      const columns = ['id', 'status', 'product.id', 'product.name', 'product.period', 'product.plan_id', 'iccid'];
      const lines = [columns, ...['""', ''].map((name) => ['x', name, quoted, name, '', name, '8'])];
      const others = ['activationDate', 'expirationDate', 'createdDate', 'device_id', 'auto_renew'];
      const text = lines.map((each, n) => [...each, ...(n === 0 ? others : others.map(() => ''))].join(separator));
      const id = quoted.replaceAll('""', '"').slice(1, -1);
      expect((await read(text.join('\n'))).map(({ content }) => content)).toEqual([
        { value: { id: 'x', product: { id, name: '', plan_id: '' }, iccid: '8', device_id: '' } },
        { value: { id: 'x', product: { id }, iccid: '8', device_id: '' } },
      ]);
    },
  );

  test('removes the apostrophe that guards against formulas, and no other', async () => {
    const [row] = await read(
      `${header}\n${lineOf({ device_id: "'=1+1", 'product.name': "''-1", 'product.plan_id': "'a" })}\n`,
    );
    expect(row?.content).toEqual({
      value: { ...value, device_id: '=1+1', product: { ...value.product, name: "'-1", plan_id: "'a" } },
    });
  });

  test('reports a record with too few or too many cells as a faulty row and reads on', async () => {
    const rows = await read(`${header}\na,b\n${lineOf()},more\n${lineOf()}\n`);
    const rule = 'a row with as many cells as the first line has, 14: it has';
    expect(rows.map(({ line, content }) => [line, 'faults' in content && content.faults[0]?.rule])).toEqual([
      [2, `${rule} 2`],
      [3, `${rule} 15`],
      [4, false],
    ]);
  });

  test('reports bytes that are not UTF-8 as a faulty row', async () => {
    const latin = Buffer.from(`${header}\n${lineOf({ device_id: 'caf\u00e9' })}\n`, 'latin1');
    expect((await read(latin))[0]?.content).toEqual({
      faults: [{ field: '', value: null, rule: expect.stringContaining(': café (windows-1252), ') }],
    });
  });

  test('accepts a character U+FFFD of the source like any other (T5)', async () => {
    const [row] = await read(`${header}\n${lineOf({ device_id: 'a\ufffdb' })}\n`);
    expect(row?.content).toEqual({ value: { ...value, device_id: 'a\ufffdb' } });
  });

  test.each([
    ['a header that ends in LF, and rows in CRLF', '\n', '\r\n'],
    ['a header that ends in CRLF, and rows in LF', '\r\n', '\n'],
    ['CRLF everywhere', '\r\n', '\r\n'],
    ['LF everywhere', '\n', '\n'],
    ['CR everywhere', '\r', '\r'],
  ])('numbers lines correctly with %s (T8)', async (_title, first, end) => {
    const quoted = lineOf({ device_id: `two${end}lines` });
    const text = [quoted, '', lineOf(), 'x', lineOf({ 'product.name': 'last' })].join(end);
    for (const size of [1, 7, 1_000]) {
      const rows = await Array.fromAsync(readCsv(Readable.from(piecesOf(`${header}${first}${text}`, size))));
      expect(rows.map(({ line, raw }) => [line, raw])).toEqual([
        [2, quoted],
        [5, lineOf()],
        [6, 'x'],
        [7, lineOf({ 'product.name': 'last' })],
      ]);
      expect(rows[1]?.content).toEqual({ value });
    }
  });

  test('leaves a period that is not a number to the row check', async () => {
    const [row] = await read(`${header}\n${lineOf({ 'product.period': '3 weeks' })}`);
    expect(row?.content).toMatchObject({ value: { product: { period: '3 weeks' } } });
  });

  test.each(iccidForms)(
    'reads an ICCID with $form, or leaves it to the rule of the field',
    async ({ text, values }) => {
      const [row] = await read(`${header}\n${lineOf({ iccid: text, device_id: '="1"' })}`);
      const iccid = values.length === 1 ? values[0] : text;
      expect(row?.content).toEqual({ value: { ...value, iccid, device_id: '="1"' } });
    },
  );

  test.each([
    ['no header', `${lineOf()}\n${lineOf()}`, 'it has none of them'],
    ['a header in another encoding', Buffer.from(`${header},gr\u00f6\u00dfe\n`, 'latin1'), 'größe (windows-1252)'],
    [
      'a header of many unknown columns',
      Array.from({ length: 500 }, (_, n) => `id${n}`)
        .concat('id')
        .join(),
      'and 49',
    ],
    ['a header whose name is long', `${'x'.repeat(9_000)},id`, 'more'],
  ])('rejects %s in one sentence', async (_title, text, part) => {
    const message = await read(text).then(String, (error: Error) => error.message);
    expect(message).toContain(part);
    expect(message.length).toBeLessThanOrEqual(200);
  });

  test('maps columns to fields, ignores other columns, and adds constants', async () => {
    const mapping = {
      columns: {
        id: 'SUB',
        iccid: 'SIM',
        activationDate: 'FROM',
        createdDate: 'FROM',
        expirationDate: 'TO',
        'product.id': 'TARIFF',
        device_id: 'IMEI',
      },
      constants: { auto_renew: 'false', 'product.period_unit': 'DAYS', 'product.period': '30' },
    };
    const text = 'SIM;SUB;FROM;TO;TARIFF;IMEI;CITY\n89;x;a;b;p;;Berlin\n';
    expect((await read(text, { mapping }))[0]?.content).toEqual({
      value: {
        ...{ id: 'x', iccid: '89', activationDate: 'a', createdDate: 'a', expirationDate: 'b', device_id: '' },
        ...{ auto_renew: 'false', product: { id: 'p', period: '30', period_unit: 'DAYS' } },
      },
    });
    const faults = { columns: { ...mapping.columns, iccid: 'ICC' }, constants: { id: 'x' } };
    await expect(read(text, { mapping: faults })).rejects.toThrow(
      "there is no column 'ICC'; 'id' is a constant and a column; 'iccid', 'auto_renew' are missing",
    );
    await expect(read(text.replace('CITY', 'SIM'), { mapping })).rejects.toThrow("'SIM' stands twice");
  });

  test('reads what values of a file mean, and rejects one that the mapping does not have', async () => {
    const values = {
      status: { A: 'ACTIVE', G: 'GONE', '-': '' },
      auto_renew: { Y: 'true' },
      expirationDate: { 9999: '9999-12-31T00:00:00Z' },
    };
    const mapping = { columns: {}, constants: {}, values };
    const lines = [
      { status: 'A', auto_renew: 'Y', expirationDate: '9999' },
      { status: 'GONE', auto_renew: 'false' },
      { status: '-' },
      { status: 'B', auto_renew: 'X', expirationDate: 'x' },
    ];
    const rows = await read(`${header}\n${lines.map(lineOf).join('\n')}`, { mapping });
    const { status: _, ...without } = value;
    expect(rows.map(({ content }) => content)).toEqual([
      { value: { ...value, auto_renew: 'true', expirationDate: '9999-12-31T00:00:00Z' } },
      { value: { ...value, status: 'GONE', auto_renew: 'false' } },
      { value: without },
      {
        faults: [
          {
            field: 'status',
            value: '"B"',
            rule: "in 'values' of the mapping, as 'A' is, or a valid value, such as 'ACTIVE'",
          },
          expect.objectContaining({ field: 'expirationDate', value: '"x"' }),
          expect.objectContaining({ field: 'auto_renew', value: '"X"' }),
        ],
      },
    ]);
    await expect(read('id,iccid\n', { mapping })).rejects.toThrow("'status' has values and no column");
  });

  test('rejects a boolean without a meaning if another one means the opposite of what it says', async () => {
    const mapping = { columns: {}, constants: {}, values: { auto_renew: { y: 'f', '-': 'true' } } };
    const lines = ['y', '-', 'Y', 'n', 'false'].map((word) => lineOf({ auto_renew: word }));
    const rows = await read(`${header}\n${lines.join('\n')}`, { mapping });
    const rules = rows.map(({ content }) => 'faults' in content && content.faults[0]?.rule);
    expect(rules).toEqual([false, false, ...Array(3).fill("in 'values' of the mapping, as 'y' is")]);
  });

  test('compares names of columns without case, points, underscores and blanks', async () => {
    const names = [csvColumns.map((name) => name.toUpperCase()), recordFields.map(({ column }) => column)];
    for (const [at, columns] of names.entries())
      expect((await read(`${columns.join()}\n${lineOf().slice(0, -at || undefined)}\n`))[0]?.content).toEqual({
        value,
      });
    const twice = `${header},created_date,ICCID\n`;
    await expect(read(twice)).rejects.toThrow(
      "'createdDate' and 'created_date' are one field; 'iccid' and 'ICCID' are",
    );
  });

  test('rejects a header with all its unknown, repeated and missing columns', async () => {
    await expect(read('id,id,Statuss,iccidd\n')).rejects.toMatchObject({
      code: 'UNREADABLE',
      message: expect.stringMatching(
        /'Statuss' is not a column.*did you mean 'status'.*'iccidd'.*'iccid'.*; and \d more/,
      ),
    });
  });

  test.each([
    ['a quotation that never ends', `${header}\n${lineOf()}\n"a`],
    ['text after a quotation', `${header}\n${lineOf()}\n"a"b,c`],
  ])('%s aborts with its line number', async (_title, text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'UNREADABLE', message: expect.stringContaining('line 3') });
  });

  test.each(['', '\n\r\n', '\ufeff', ';;;\n', 'sep=;\r\n'])('rejects an empty source: %j', async (text) => {
    await expect(read(text)).rejects.toThrow('it is empty');
  });
});
