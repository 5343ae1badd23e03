import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { firedHere } from './did-not-happen.ts';
import { DrilledService } from './drilled-service.ts';
import { drills } from './drills.ts';
import { runDrill } from './run-drill.ts';
import type { Stage } from './stage.ts';

const page = readFileSync(new URL('results.md', import.meta.url), 'utf8');

/** The short drills use the embedded store. */
const setting = {
  program: undefined,
  postgres: () => Promise.reject(new Error('a short drill must not need PostgreSQL')),
};

describe('the short drills', () => {
  test.each(drills.filter(({ isShort }) => isShort))('$name: $fault', async (drill) => {
    const { observed, ok } = await runDrill(drill, setting, 1);
    if (ok === 'NOT RUN') console.warn(`SKIPPED: the drill ${drill.name} was not run: ${observed}`);
    else expect(observed).toBe(drill.expected);
  });
});

test('a drill that never ends, and one whose cleanup never ends, are not as expected', async () => {
  const drill = { name: 'hangs', fault: 'a fault', expected: 'an end' };
  const never = new Promise<never>(() => undefined);
  const limits = { runMs: 50, closeMs: 50 };
  const hung = await runDrill({ ...drill, run: () => never }, setting, 1, limits);
  expect([hung.ok, hung.observed]).toEqual(['NO', 'Error: it was not over after 0.05 s']);
  const run = async (stage: Stage): Promise<string> => {
    stage.defer(() => never);
    return 'an end';
  };
  const left = await runDrill({ ...drill, run }, setting, 1, { runMs: 60_000, closeMs: 50 });
  expect([left.ok, left.observed]).toEqual(['NO', 'an end; then Error: its end was not over after 0.05 s']);
});

test('a login that is refused throws the response', async () => {
  const run = async (stage: Stage): Promise<string> => {
    const { command, port, managementPort, client } = await stage.serve(await stage.sqlite(1));
    const stranger = new DrilledService(command, port, managementPort, { ...client, client_secret: 'another' });
    await stranger.logIn();
    return stranger.report();
  };
  const { observed } = await runDrill({ name: 'stranger', fault: 'a wrong secret', expected: '200', run }, setting, 1);
  expect(observed).toMatch(/^Error: the client must be logged in: the response is 401 .*"invalid_client"/);
});

describe('test/drills/results.md', () => {
  test('has a row for each drill, and for no other', () => {
    const rows = [...page.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
    expect(rows).toEqual(drills.map(({ name }) => name));
  });

  test('states the fault of each drill', () => {
    expect(drills.filter(({ fault }) => !page.includes(`| ${fault} |`))).toEqual([]);
  });
});

test('docs/contributors/drills.md lists the alerts that drills fire', () => {
  const guide = readFileSync(new URL('../../docs/contributors/drills.md', import.meta.url), 'utf8');
  const listed = [...guide.matchAll(/^\| `(Subreport\w+)` \|/gm)].map(([, name = '']) => name);
  expect(listed).toEqual(['SubreportErrors', ...new Set(firedHere)]);
});
