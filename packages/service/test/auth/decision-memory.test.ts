import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../../../test/support/remember-decision.ts', import.meta.url));

test('a cached decision keeps no token in memory, and nothing at all after its token has expired (A 14.2.2)', async () => {
  const { stdout } = await run(process.execPath, [program]);
  expect(JSON.parse(stdout)).toEqual({
    living: { token: false, decision: true },
    ended: { token: false, decision: false },
  });
});
