import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openImportSource } from './import-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-source-'));
afterAll(() => rmSync(folder, { recursive: true }));

const text = 'id,iccid\n'.repeat(100_000);

/** Reads a source, and calls `during` after its first bytes; returns how many bytes were read. */
async function read(source: Pick<ReturnType<typeof openImportSource>, 'open'>, during: () => void = () => undefined) {
  let bytes = 0;
  for await (const chunk of source.open()) {
    if (bytes === 0) during();
    bytes += chunk.length;
  }
  return bytes;
}

describe('a file to import', () => {
  const file = join(folder, 'rows.csv');
  const changes = {
    'is written to': () => appendFileSync(file, 'half a'),
    'is cut': () => writeFileSync(file, text.slice(0, -5)),
    'is replaced by another of its size': () => {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    },
  };
  test.each(Object.entries(changes))('that %s while it is read is refused, then and later', async (_how, change) => {
    writeFileSync(file, text);
    const source = openImportSource(file, {});
    expect(await read(source)).toBe(text.length);
    const refused = {
      code: 'UNREADABLE',
      message: expect.stringContaining(': the file must not change while it is read'),
    };
    await expect(read(source, change)).rejects.toMatchObject(refused);
    await expect(read(source)).rejects.toMatchObject(refused);
    expect(await read(openImportSource(file, {}))).toBeGreaterThan(text.length - 9);
  });
});
