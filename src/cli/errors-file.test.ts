import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openErrorsFile } from './errors-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const rowOf = (line: number, raw: string) => ({ line, errors: [], raw });

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
