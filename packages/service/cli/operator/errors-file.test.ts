import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openErrorsFile } from './errors-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const rowOf = (line: number, raw: string) => ({ line, errors: [], raw });

const modeOf = (file: string): number => statSync(file).mode & 0o777;

test('an existing file is replaced by one that only its owner can read', async () => {
  const file = join(folder, 'readable.ndjson');
  writeFileSync(file, 'earlier\n');
  chmodSync(file, 0o644);
  const first = await openErrorsFile(file, undefined);
  await first.write(rowOf(1, 'x'));
  await first.close();
  expect([modeOf(file), JSON.parse(readFileSync(file, 'utf8'))]).toEqual([0o600, rowOf(1, 'x')]);
});

test('a symbolic link is not followed', async () => {
  const [target, link] = [join(folder, 'target'), join(folder, 'link')];
  writeFileSync(target, 'kept');
  chmodSync(target, 0o644);
  symlinkSync(target, link);
  await expect(openErrorsFile(link, undefined)).rejects.toThrow(/no symbolic link/);
  symlinkSync(join(folder, 'absent'), `${link}-2`); // to nothing
  await expect(openErrorsFile(`${link}-2`, undefined)).rejects.toThrow(/no symbolic link/);
  expect([readFileSync(target, 'utf8'), modeOf(target)]).toEqual(['kept', 0o644]);
});

test('the file that is imported is not replaced', async () => {
  const file = join(folder, 'imported.ndjson');
  writeFileSync(file, 'rows');
  await expect(openErrorsFile(file, statSync(file, { bigint: true }))).rejects.toThrow(/file that is imported/);
  expect(readFileSync(file, 'utf8')).toBe('rows');
});
