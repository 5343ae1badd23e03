import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearable, hostilities, secretForms, startHostile, trap } from './hostile-server.ts';
import { type Outcome, operatorToken, programs, runWatched } from './programs.ts';

/** Memory that a program may take beyond that of one whose connection is refused, in kB. */
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
  // the words of the engine about a fault of the program
  expect(stdout).not.toMatch(/Cannot (read propert|destructure|convert)|is not (iterable|a function)/);
  expect([1, 2, 75, ...mayEnd], stderr).toContain(code);
  expect(stderr + stdout).not.toBe('');
}

/** Whether each program meets each server: some 300 processes. */
const isWhole = process.env.HOSTILE_ALL === '1';

/** Each program once, so each hostility once or twice; all pairs if `isWhole`. */
const pairs = programs.flatMap(([name, program], index) =>
  Object.keys(hostilities)
    .filter((_hostility, position, { length }) => isWhole || position === index % length)
    .map((hostility) => ({ name, program, hostility })),
);

let idleKilobytes = 0;
beforeAll(async () => {
  idleKilobytes = (await runWatched({ args: () => ['whoami'] }, 'http://127.0.0.1:9')).peakKilobytes;
});

test.concurrent.each(pairs)('$name bears a server that sends $hostility', async ({ program, hostility }) => {
  const { mayEnd = [] } = program;
  const outcome = await runWatched(program, server.urlOf(hostility));
  requireCalm(outcome, bearable.includes(hostility) ? [...mayEnd, 0] : mayEnd);
  expect(outcome.peakKilobytes - idleKilobytes).toBeLessThan(kilobytesMax);
});

test('the pairs contain every program and every hostility', () => {
  expect(new Set(pairs.map(({ name }) => name)).size).toBe(programs.length);
  expect(new Set(pairs.map(({ hostility }) => hostility)).size).toBe(Object.keys(hostilities).length);
});

test('no program has followed a redirect', () => {
  expect(trap.requests).toBe(0);
});
