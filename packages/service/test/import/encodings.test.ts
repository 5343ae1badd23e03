import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvText } from '../../../../test/support/csv-text.ts';
import { openSqlite } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { type SyntheticRow, syntheticRows } from '../../import/synthetic-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
const environment = { DATA_DIR: join(folder, 'data') };
afterAll(() => rmSync(folder, { recursive: true }));

const [example] = syntheticRows({ count: 1, seed: 7, until: 1_767_225_600 });
const named = (name: string) => ({ ...example, product: { ...example?.product, name } }) as SyntheticRow;

/** Writes text in another encoding, as the C library does. */
const encoded = (text: string, charset: string): Buffer =>
  execFileSync('iconv', ['-f', 'UTF-8', '-t', charset], { input: text });

/** Names for the C library and for us, and a word. */
const encodings: readonly (readonly [charset: string, encoding: string, word: string])[] = [
  ['WINDOWS-1252', 'windows-1252', 'Gekündigt'],
  ['WINDOWS-1250', 'windows-1250', 'Łódź'],
  ['ISO-8859-2', 'iso-8859-2', 'Łódź'],
  ['WINDOWS-1254', 'windows-1254', 'Müşteri'],
  ['WINDOWS-1251', 'windows-1251', 'Европа'],
  ['WINDOWS-1253', 'windows-1253', 'Αθήνα'],
  ['SHIFT_JIS', 'shift_jis', 'データ'],
  ['GB18030', 'gb18030', '欧洲套餐'],
  ['EUC-KR', 'euc-kr', '한국'],
];

describe('a file in another encoding', () => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    await runHere(['tenant', 'create', 'acme'], environment);
    management = await startManagement(await openSqlite());
    token = await management.operatorToken('operator:write', 'subscription:write');
    await management.send('POST', '/operator/v1/tenants', { token, body: { tenant: 'acme' } });
  });
  afterAll(() => management.close());

  const load = async (file: string, ...args: string[]) => {
    const { stdout, stderr } = await runHere(['import', file, '--tenant', 'acme', '--dry-run', ...args], environment);
    return { stderr, ...(args.includes('--json') && JSON.parse(stdout)), stdout };
  };
  const put = async (body: Buffer, type: string) =>
    (
      await management.app.inject({
        method: 'PUT',
        url: '/operator/v1/tenants/acme/subscriptions?dry-run=true',
        headers: { authorization: `Bearer ${token}`, 'content-type': type, host: '127.0.0.1' },
        body,
      })
    ).json();

  test.each(encodings)('%s is refused with a word as it reads in %s, in which it is read: %s', async (...each) => {
    const [charset, encoding, word] = each;
    const row = named(`${word} 5 GB`);
    for (const [format, text] of [
      ['csv', csvText([row])],
      ['ndjson', JSON.stringify(row)],
    ] as const) {
      const bytes = encoded(text, charset);
      const file = join(folder, `${charset}.${format}`);
      writeFileSync(file, bytes);
      expect((await load(file)).stderr).toContain(`${word} (${encoding})`);
      const read = { encoding, first_records: [{ product: { name: `${word} 5 GB` } }] };
      expect(await load(file, '--encoding', encoding, '--json')).toMatchObject(read);
      const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
      expect(await put(bytes, `${type}; charset="${charset}"`)).toMatchObject(read);
    }
  });

  test('is named in the result, also UTF-16, and not if it is UTF-8', async () => {
    const file = join(folder, 'utf-16.csv');
    writeFileSync(file, encoded(csvText([named('Łódź')]), 'UTF-16'));
    expect((await load(file)).stderr).toContain('iconv -f UTF-16LE');
    expect((await load(file, '--encoding', 'utf-16')).stdout).toMatch(/1 rows? read as utf-16le in .*Łódź/s);
    expect(await put(Buffer.from(csvText([named('Łódź')])), 'text/csv; charset=US-ASCII')).not.toHaveProperty(
      'encoding',
    );
  });

  test.each(['cp852', 'x-user-defined', 'replacement', ''])('%j is refused, with an example', async (name) => {
    expect((await load('x.csv', '--encoding', name)).stderr).toContain('such as windows-1250, shift_jis or utf-16le');
    if (name !== '')
      expect(await put(Buffer.from('x'), `text/csv; charset=${name}`)).toMatchObject({
        status: 415,
        detail: expect.stringContaining(
          `such as windows-1250, shift_jis or utf-16le, or absent: current value is '${name}'`,
        ),
      });
  });

  test('that it is not, is refused before its first row is loaded', async () => {
    const file = join(folder, 'wrong.csv');
    writeFileSync(file, encoded(csvText([named('x'), named('Łódź')]), 'WINDOWS-1250'));
    const { stderr } = await runHere(['import', file, '--tenant', 'acme', '--encoding', 'sjis'], environment);
    expect(stderr).toMatch(/it must be shift_jis, the encoding that was named: it is not, within \d+ bytes\n/);
  });
});

test('the word is no part of an address, and a rule without a word is one', async () => {
  const file = join(folder, 'address.ndjson');
  writeFileSync(file, Buffer.from('{"email":"j\xf6rg+a@example.com","a":"\xff\xfe"}\n\xff@b.c', 'latin1'));
  const { stderr } = await runHere(['import', file, '--tenant', 'acme'], environment);
  expect(stderr).not.toContain('rg');
  expect(stderr).toContain('line 2: the row must be UTF-8, or its encoding must be named (--encoding, charset)\n');
});
