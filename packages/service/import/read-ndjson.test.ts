import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Product } from '../../contract/product.ts';
import { writeSummaryLine } from '../../contract/report.ts';
import { Subscription } from '../../contract/subscription.ts';
import { checkRow, rowBytesMax, type SourceRow } from './check-row.ts';
import { readNdjson } from './read-ndjson.ts';

async function read(...chunks: (string | Uint8Array)[]): Promise<SourceRow[]> {
  const source = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk as string);
  })();
  return Array.fromAsync(readNdjson(source));
}
const values = (rows: readonly SourceRow[]) =>
  rows.map(({ line, content }) => [line, 'value' in content ? content.value : content.faults[0]?.rule]);

/** As long as the import accepts: a fraction and an offset. */
const longestDate = '2024-05-01T08:00:00.123456789+02:00';

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** A string of the maximum length for each field that has one, of its longest valid characters. */
function longestOf(fields: Readonly<Record<string, object>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const { maxLength = 0, pattern = '' } = field as { maxLength?: number; pattern?: string };
      const fits = ['😀', 'A', '0']
        .map((each) => each.repeat(maxLength))
        .find((each) => new RegExp(pattern, 'u').test(each));
      // the padding of an id
      return maxLength === 0 ? [] : [[name, fits ?? `${'A'.repeat(maxLength - 2)}==`]];
    }),
  );
}

describe('reading NDJSON', () => {
  test('yields a row with its line number for each line that is not blank', async () => {
    expect(values(await read('{"a":1}\n\n  \n{"a":2}'))).toEqual([
      [1, { a: 1 }],
      [4, { a: 2 }],
    ]);
  });

  test('yields the same rows wherever the chunks are cut, even within a character', async () => {
    const text = '{"a":"ä日🛰"}\n{"b":2}\n\n{"c":"x"}\n';
    const whole = await read(text);
    const bytes = Buffer.from(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 6 }), async (cuts) => {
        const ends = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = ends.slice(1).map((end, index) => bytes.subarray(ends[index], end));
        expect(await read(...chunks)).toEqual(whole);
      }),
    );
  });

  test('reports unreadable lines as faulty rows and reads on', async () => {
    const rows = await read('{"a":\n', Buffer.from([0x22, 0xff, 0x22, 0x0a]), 'nonsense\n{"a":1}\n');
    expect(values(rows)).toEqual([
      [1, expect.stringMatching(/^a JSON object on one line/)],
      [2, expect.stringMatching(/^UTF-8, or its encoding must be named/)],
      [3, expect.stringMatching(/^a JSON object on one line/)],
      [4, { a: 1 }],
    ]);
    expect(rows[2]?.raw).toBe('nonsense');
  });

  test('reports a line that is too long as a faulty row, shortened, and reads on', async () => {
    const long = `"${'a'.repeat(3 * rowBytesMax)}"`;
    const rows = await read(long.slice(0, 1_000_000), long.slice(1_000_000), '\n{"a":1}');
    expect(values(rows)).toEqual([
      [1, `at most ${rowBytesMax} bytes long`],
      [2, { a: 1 }],
    ]);
    expect(rows[0]?.raw.length).toBeLessThan(100);
  });

  test.each([
    ['{"id":"9\\": -9","peri\\u006fd" : 1e-400}', '1e-400'],
    ['{"period":30.00000000000000000001,"id":"p"}', '30.00000000000000000001'],
    ['{"period":30.0}', 30],
    ['{"period":1.5}', 1.5],
  ])('leaves a number as a string if parsing would make it whole: %s', async (product, period) => {
    const [row] = await read(`{"product":${product}}`);
    expect(row?.content).toMatchObject({ value: { product: { period } } });
    expect(await read('{"auto_renew":1e-400}')).toMatchObject([{ content: { value: { auto_renew: '1e-400' } } }]);
  });

  test('reads a line of exactly the maximum length', async () => {
    const text = `"${'a'.repeat(rowBytesMax - 2)}"`;
    expect((await read(`${text}\n`))[0]?.content).toEqual({ value: text.slice(1, -1) });
  });

  test('reads the longest valid record of the contract with every character escaped', async () => {
    const { product: _, ...fields } = Subscription.properties;
    const dates = Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]) => ('format' in field ? [[name, longestDate]] : [])),
    );
    const product = { ...longestOf(Product.properties), period: 1_000_000 };
    const record = { ...longestOf(fields), ...dates, auto_renew: 'false', email: '😀'.repeat(254), product };
    const text = JSON.stringify(record).replaceAll(/"([^"]+)"/g, (_quoted, string) => `"${escaped(string)}"`);
    const [row] = await read(`${text}\n`);
    expect(row?.content).toEqual({ value: record });
    expect(checkRow(record)).toHaveProperty('row');
    expect(text.length).toBeGreaterThan(0.8 * rowBytesMax);
  });

  test.each([
    ['nested deeper', `{"a":${'['.repeat(4)}${']'.repeat(4)}}`],
    ['nested as deep as its length allows', `{"a":${'['.repeat(8_000)}${']'.repeat(8_000)}}`],
    ['nested deeper in objects', '{"a":{"b":{"c":{"d":{}}}}}'],
  ])('rejects a row %s', async (_title, text) => {
    expect(values(await read(`\n${text}\n`))).toEqual([[2, 'a JSON object at most 4 levels deep']]);
  });

  test('parses a row with brackets, commas and quotes in its strings', async () => {
    const row = { a: '[{'.repeat(100), b: ','.repeat(100), c: '"[\\"'.repeat(100), '[[[[[[': [[[]]] };
    expect(values(await read(JSON.stringify(row)))).toEqual([[1, row]]);
  });
});

describe('the summary line of an export, read as NDJSON,', () => {
  const report = (rows: readonly object[]): string => {
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    return text + writeSummaryLine({ rows: rows.length, sha256: '0'.repeat(64) });
  };
  const three = report([{ a: 'ä' }, { a: 2 }, { a: 3 }]);

  test('is not a row, wherever the chunks are cut', async () => {
    const bytes = Buffer.from(three + report([]) + report([{ b: 1 }]));
    const whole = values(await read(bytes));
    expect(whole).toEqual([
      [1, { a: 'ä' }],
      [2, { a: 2 }],
      [3, { a: 3 }],
      [6, { b: 1 }],
    ]);
    for (let cut = 1; cut < bytes.length; cut += 1)
      expect(values(await read(bytes.subarray(0, cut), bytes.subarray(cut)))).toEqual(whole);
    expect(values(await read(...[...bytes].map((byte) => Buffer.from([byte]))))).toEqual(whole);
  });

  test('may lack its line end, and rows may follow it', async () => {
    expect(await read(three.trimEnd())).toHaveLength(3);
    expect(await read(`${three}{"a":4}\n`)).toHaveLength(4);
  });

  test.each([
    ['a row is missing', three.replace('{"a":2}\n', ''), /had 3 rows, 2 are present/],
    ['its first row is missing', three.slice(three.indexOf('\n') + 1), /had 3 rows, 2 are present/],
    ['a row is there twice', `{"a":2}\n${three}`, /had 3 rows, 4 are present/],
    [
      'the second of two is not whole',
      three + three.replace('{"a":3}\n', ''),
      /up to line 7, .*had 3 rows, 2 are present/,
    ],
  ])('rejects an export when %s', async (_title, text, message) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'UNREADABLE', message: expect.stringMatching(message) });
  });

  test('counts as a row if it is not written as ours is', async () => {
    for (const line of [
      '{"summary":{}}',
      '{"summary":{"rows":3,"sha256":"x"}}',
      '{"summary":1}',
      '{ "summary":{"rows":0}}',
    ])
      expect(values(await read(`${line}\n`))).toEqual([[1, JSON.parse(line)]]);
  });
});
