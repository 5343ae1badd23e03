import { afterAll, beforeAll, expect, test } from 'vitest';
import { drawPairs } from '../../../../test/support/draw.ts';
import { bearable, hostilities, startHostile, trap } from './hostile-server.ts';
import { type Program, programs, requireCalm, requireSmall, runWatched } from './programs.ts';

let server: Awaited<ReturnType<typeof startHostile>>;
beforeAll(async () => {
  server = await startHostile();
});
afterAll(() => server.close());

/** Each program once, so each hostility once or twice; the whole matrix is some 500 processes. */
const pairs = drawPairs(programs, Object.keys(hostilities)).map(([[name, program], hostility]) => ({
  name,
  program,
  hostility,
}));

test.concurrent.each(pairs)('$name bears a server that sends $hostility', async ({ program, hostility }) => {
  const { mayEnd = [] } = program;
  const outcome = await runWatched(program, server.urlOf(hostility));
  requireCalm(outcome, bearable.includes(hostility) ? [...mayEnd, 0] : mayEnd);
  await requireSmall(outcome);
});

test.each(['sync sqlite', 'sync dir'])('%s ends although a report that it refuses does not', async (name) => {
  const [, program] = programs.find((each) => each[0] === name) ?? [];
  requireCalm(await runWatched(program as Program, server.urlOf('a body that drips')));
});

test('the pairs contain every program and every hostility', () => {
  expect(new Set(pairs.map(({ name }) => name)).size).toBe(programs.length);
  expect(new Set(pairs.map(({ hostility }) => hostility)).size).toBe(Object.keys(hostilities).length);
});

test('no program has followed a redirect', () => {
  expect(trap.requests).toBe(0);
});
