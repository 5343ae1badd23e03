import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../../../test/support/fill-page-cache.ts', import.meta.url));

test.each(['short pages', 'long keys and links', 'compressed pages', 'pages of a whole report'])(
  'a page cache of 16 MiB full of %s takes at most 20 % more than that in memory',
  async (kind) => {
    const { stdout } = await run(process.execPath, ['--expose-gc', program, kind]);
    expect(Number(stdout)).toBeLessThan(16 * 1.2);
    expect(Number(stdout)).toBeGreaterThan(16 * 0.5); // it is used, too
  },
);
