import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { claims } from './claims.ts';

// No surface says a number, "nothing", "all" or "none" about what it did not read. Each sentence
// that can say so is in `claims`, by what its words are computed from.

const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
const claim =
  /\b(?:No|None|Nothing|All|Complete|complete|More than|at least|none) |\b(?:None|[Nn]othing|none)\b|\b(?:formatCount|countOf|counted|countText|records|rows)\(|toLocaleString|\$\{\w*(?:[cC]ount|total|rows|records|missing|deleted|asked)\w*\}/;

/** Not sentences: errors have tests of their own, and settings and help describe no data. */
const others = /Cannot |Examples?:|\b(?:it )?must |^.\n/;
const silent = /\.test\.|^packages\/service\/cli\/(?:settings|config\b)/;

/** Words of a literal, as one line of at most 70 characters; `#` is what is filled in. */
const short = (text: string): string =>
  text
    .slice(1, -1)
    .replace(/\$\{counted\([^}]*, '(\w+)'\)\}/g, '# $1s')
    .replace(/\$\{[^}]*\}?/g, '#')
    .replace(/\s+/g, ' ')
    .slice(0, 70);

function claimsIn(file: string, source: string): string[] {
  const code = source.replaceAll(/^\s*(?:\/\/|\*|\/\*\*).*$/gm, '');
  return [...code.matchAll(literal)]
    .map(([text]) => text)
    .filter((text) => claim.test(text) && text.includes(' ') && !others.test(text) && !isHelp(file, text))
    .map(short);
}

/** Descriptions of commands and options begin in lower case. */
const isHelp = (file: string, text: string): boolean =>
  /^packages\/(?:service\/cli|cli\/commands|terminal)\//.test(file) && /^.[a-z ]+ /.test(text);

const files = ['console', 'service/cli', 'cli/commands', 'terminal', 'mcp'].flatMap((folder) =>
  readdirSync(`packages/${folder}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `packages/${folder}/${name}`)
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('/test/') && !silent.test(file)),
);

test('each sentence with a number or "nothing" says what it is computed from', () => {
  const found = files.flatMap((file) => claimsIn(file, readFileSync(file, 'utf8')));
  expect([...new Set(found)].sort()).toEqual([...new Set(Object.values(claims).flat())].sort());
});

test.each([
  ["none: 'No tenants yet'", 'No tenants yet'],
  ['sum: (n: number) => `$'.concat('{formatCount(n)} of them`'), '# of them'],
  ['screen.remark(`All $'.concat('{count} were read`)'), 'All # were read'],
])('the sentence in %s is found', (code, text) => {
  expect(claimsIn('console/x/strings.ts', code)).toEqual([text]);
});
