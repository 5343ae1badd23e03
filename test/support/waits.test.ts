import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import config from '../../vitest.config.ts';
import { waitMsMax } from './wait-limit.ts';

const files = ['packages', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.tsx?$/.test(name) && name !== 'support/waits.test.ts')
    .map((name) => `${folder}/${name}`),
);

test('no test waits longer than 20 seconds for what does not come', () => {
  expect(waitMsMax).toBe(process.env.CI === undefined ? 20_000 : 80_000);
  const { expect: expectation } = config.test ?? {};
  expect(expectation?.poll?.timeout).toBe(waitMsMax);
});

/** Limits that a file sets for itself, in milliseconds: a busy machine exceeds any of them. */
const ownLimits: Readonly<Record<string, RegExp>> = {
  'of a test or hook': /^ *\}, ?\d[\d_]*\);/gm,
  'of a test, a poll or a process': /\btimeout: ?\d[\d_]*\b(?![smh])/g,
  'of `eventually`': /\beventually\((?:(?!;\n)[\s\S])*?, ?\d[\d_]*\);/g,
  'of `vi.waitFor`, a second by default': /\bvi\.waitFor\(/g,
  'of a timer that ends a wait': /\bsetTimeout\((?:\w+|\(\) => [^\n]*(?:kill|reject|fail|abort)\([^\n]*), ?\d[\d_]*\)/g,
};

test.each(Object.entries(ownLimits))('no test has a limit of its own: %s', (_what, limit) => {
  const found = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(limit)].map(([text]) => `${file}: ${text.trim().slice(-80)}`),
  );
  expect(found).toEqual([]);
});

test.each([
  ['of a test or hook', "test('x', async () => {\n  await y();\n}, 60_000);"],
  ['of a test, a poll or a process', 'expect.poll(f, { timeout: 5_000 }).toBe(1);'],
  ['of `eventually`', 'await eventually(() => expect(a).toBe(f(1)), 2_000);'],
  ['of `vi.waitFor`, a second by default', 'await vi.waitFor(() => expect(a).toBe(1));'],
  ['of a timer that ends a wait', "setTimeout(() => child.kill('SIGKILL'), 15_000);"],
])('a limit %s is found', (what, text) => {
  expect([...text.matchAll(ownLimits[what] as RegExp)]).toHaveLength(1);
});
