import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openErrorsFile } from './errors-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const rowOf = (line: number, raw: string) => ({ line, errors: [], raw });

const modeOf = (file: string): number => statSync(file).mode & 0o777;

test('an existing file is replaced by one that only its owner can read, and a resumed import makes it so', async () => {
  const file = join(folder, 'readable.ndjson');
  writeFileSync(file, 'earlier\n');
  chmodSync(file, 0o644);
  const resumed = await openErrorsFile(file, true, undefined);
  await resumed.close();
  expect([modeOf(file), readFileSync(file, 'utf8')]).toEqual([0o600, 'earlier\n']);
  chmodSync(file, 0o644);
  const first = await openErrorsFile(file, false, undefined);
  await first.write(rowOf(1, 'x'));
  await first.close();
  expect([modeOf(file), JSON.parse(readFileSync(file, 'utf8'))]).toEqual([0o600, rowOf(1, 'x')]);
});

test.each([true, false])('a symbolic link is not followed (resume: %s)', async (resume) => {
  const [target, link] = [join(folder, `target-${resume}`), join(folder, `link-${resume}`)];
  writeFileSync(target, 'kept');
  chmodSync(target, 0o644);
  symlinkSync(target, link);
  await expect(openErrorsFile(link, resume, undefined)).rejects.toThrow(/no symbolic link/);
  symlinkSync(join(folder, `absent-${resume}`), `${link}-2`); // to nothing
  await expect(openErrorsFile(`${link}-2`, resume, undefined)).rejects.toThrow(/no symbolic link/);
  expect([readFileSync(target, 'utf8'), modeOf(target)]).toEqual(['kept', 0o644]);
});

test('the file that is imported is not replaced', async () => {
  const file = join(folder, 'imported.ndjson');
  writeFileSync(file, 'rows');
  await expect(openErrorsFile(file, false, statSync(file, { bigint: true }))).rejects.toThrow(/file that is imported/);
  expect(readFileSync(file, 'utf8')).toBe('rows');
});

test.each([
  ['short rows', 'x'],
  ['rows longer than what is read at once', 'y'.repeat(200_000)],
  ['what some take for line ends', 'a\u2028b\u2029c\u0085d\re'],
])('a resumed import keeps the errors of earlier rows, even of %s', async (_title, raw) => {
  const file = join(folder, `${raw.length}.ndjson`);
  const first = await openErrorsFile(file, false, undefined);
  for (const line of [1, 2, 3]) await first.write(rowOf(line, raw));
  await first.close();
  const again = await openErrorsFile(file, true, undefined);
  await again.truncate(2);
  await again.write(rowOf(9, raw));
  await again.truncate(9); // more rows than the file has
  await again.close();
  const kept = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  expect(kept.map((line) => JSON.parse(line))).toEqual([1, 2, 9].map((line) => rowOf(line, raw)));
});
