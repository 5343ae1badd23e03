import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearable, hostilities, secretForms, startHostile, trap } from './hostile-server.ts';
import { type Outcome, operatorToken, programs, runWatched } from './programs.ts';

/** Memory that a program may take beyond that of a run whose connection is refused, in kB. */
const kilobytesMax = 128 * 1_024;

let server: Awaited<ReturnType<typeof startHostile>>;
beforeAll(async () => {
  server = await startHostile();
});
afterAll(() => server.close());

/** What must hold of all that a program prints about a server that it cannot trust. */
function requireCalm({ code, stdout, stderr }: Outcome, mayEnd: readonly number[]): void {
  for (const form of [...secretForms, operatorToken]) expect(stdout + stderr).not.toContain(form);
  expect(stderr).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/u);
  expect(stderr).not.toMatch(/^FORGED/m);
  expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+\)?$|node:internal|TypeError|RangeError/m);
  expect([1, 2, 75, ...mayEnd], stderr).toContain(code);
  expect(stderr + stdout).not.toBe('');
}

describe.each(programs)('%s', (_name, program) => {
  const { mayEnd = [] } = program;
  let idleKilobytes = 0;

  beforeAll(async () => {
    idleKilobytes = (await runWatched(program, 'http://127.0.0.1:9')).peakKilobytes;
  });

  test.concurrent.each(Object.keys(hostilities))('bears a server that sends %s', async (hostility) => {
    const outcome = await runWatched(program, server.urlOf(hostility));
    requireCalm(outcome, bearable.includes(hostility) ? [...mayEnd, 0] : mayEnd);
    expect(outcome.peakKilobytes - idleKilobytes).toBeLessThan(kilobytesMax);
  });
});

test('no program has followed a redirect', () => {
  expect(trap.requests).toBe(0);
});
