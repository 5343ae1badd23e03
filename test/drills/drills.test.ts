import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ScriptedDrill, TestedDrill } from './drill.ts';
import { drills } from './drills.ts';
import { runDrill } from './run-drill.ts';

const scripted = drills.filter((drill): drill is ScriptedDrill => 'run' in drill);
const tested = drills.filter((drill): drill is TestedDrill => !('run' in drill));
const page = readFileSync(new URL('../../docs/drills.md', import.meta.url), 'utf8');

/** The short drills use the embedded store. */
const setting = {
  program: undefined,
  postgres: () => Promise.reject(new Error('a short drill must not need PostgreSQL')),
};

describe('the short drills', () => {
  test.each(scripted.filter(({ isShort }) => isShort))('$name: $fault', async (drill) => {
    const { observed, ok } = await runDrill(drill, setting, 1);
    if (ok === 'NOT RUN') console.warn(`SKIPPED: the drill ${drill.name} was not run: ${observed}`);
    else expect(observed).toBe(drill.expected);
  });
});

describe('docs/drills.md', () => {
  test('has a row for each drill, and for no other', () => {
    const rows = [...page.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
    expect(rows).toEqual(drills.map(({ name }) => name));
  });

  test('states what each drill expects', () => {
    expect(scripted.filter(({ expected }) => !page.includes(`| ${expected} |`))).toEqual([]);
  });
});

test.each(tested)('the drill $name names a test of $file', ({ file, test: title }) => {
  expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toContain(title);
});
