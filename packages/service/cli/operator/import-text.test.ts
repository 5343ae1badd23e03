import { expect, test } from 'vitest';
import { outcomeText, writeImport } from './import-text.ts';

const counts = {
  read: 300_001,
  skipped: 0,
  accepted: 300_000,
  rejected: 1,
  inserted: 299_000,
  updated: 1_000,
  unchanged: 0,
};

test('numbers of an import have separators in words and none in JSON', () => {
  expect(outcomeText({ outcome: 'loaded-with-rejects', ...counts })).toBe('300,000 loaded, 1 rejected');
  const written: string[] = [];
  const stream = { write: (text: string | Uint8Array) => written.push(String(text)) };
  const result = { tenant: 'acme', outcome: 'loaded-with-rejects', dry_run: false, seconds: 2, errors: [], ...counts };
  for (const json of [false, true]) writeImport({ stdout: stream, stderr: stream }, { json } as never, result as never);
  expect(written[0]).toContain(
    ': 300,001 rows read in 2.0 s: 299,000 inserted, 1,000 updated, 0 unchanged, 1 rejected',
  );
  writeImport({ stdout: stream, stderr: stream }, {} as never, { ...result, skipped: 3 } as never);
  expect(written[2]).toContain(', 3 blank rows or repeated headers skipped.');
  expect(JSON.parse(written[1] ?? '')).toMatchObject(counts);
});
