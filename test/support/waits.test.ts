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

/** What Playwright reads as it is at once; `waitFor`, `expect.poll` and actions wait. */
const reading =
  /\.(?:count|title|is(?:Visible|Hidden|Enabled|Disabled|Checked)|inputValue|innerText|textContent|allInnerTexts|allTextContents|getAttribute|boundingBox|evaluate|evaluateAll)\(/;
/** What is on no page: its absence needs no wait, if something that comes with it was awaited. */
const absence = /\)\s*(?:\.not\.\w+\([\s\S]*|\.toBe\((?:0|false)\)|\.toEqual\(\[\]\));$/;
const statements =
  /^ *(?:const (\w+) = (?:async )?\([^()]*\)[^=;]*=>|expect\([\s([]*await\b)(?:(?!;(?: \/\/.*)?\n)[\s\S])*;/gm;

/** The assertions of a text that read a page once, directly or by a function that they call. */
function readOnce(text: string): string[] {
  const found = [...text.matchAll(statements)];
  const readers = found.flatMap(([body, name]) => (name !== undefined && reading.test(body) ? [name] : []));
  const calls = new RegExp([reading.source, ...readers.map((name) => `\\b${name}\\(`)].join('|'));
  return found.flatMap(([body, name]) =>
    name === undefined && calls.test(body) && !absence.test(body) && !body.includes('fetch(') ? [body.trim()] : [],
  );
}

const browserFiles = files.filter((file) => file.startsWith('packages/console/test/'));

test('no test of a page asserts what it read once, because an effect may come later: use expect.poll', () => {
  expect(browserFiles.length).toBeGreaterThan(20);
  const found = browserFiles.flatMap((file) => readOnce(readFileSync(file, 'utf8')).map((text) => `${file}: ${text}`));
  expect(found).toEqual([]);
});

/** Ways to read a page that hold whether or not it has what they read. */
const vacuous: Readonly<Record<string, RegExp>> = {
  'a list of elements, empty before they come': /\)\.all\(\)/g,
  'the text of the element that has the focus, which of the body is all of the page':
    /\bactiveElement\??\.(?:textContent|innerText)/g,
};

test.each(Object.entries(vacuous))('no test of a page reads %s', (_what, pattern) => {
  const found = browserFiles.filter((file) => readFileSync(file, 'utf8').match(pattern) !== null);
  expect(found).toEqual([]);
});
