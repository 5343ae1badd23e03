import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = 'docs/security/asvs.md';
const text = readFileSync(join(root, page), 'utf8');
const rows = [...text.matchAll(/^- (\d+\.\d+\.\d+(?:, \d+\.\d+\.\d+)*) (.+)$/gm)].flatMap(
  ([, numbers = '', where = '']) => numbers.split(', ').map((number) => ({ number, where })),
);
const excluded = [...text.matchAll(/^\| ([\d., ]+) \| [^|]+ \|$/gm)].flatMap(([, list = '']) => list.split(', '));

describe('docs/security/asvs.md', () => {
  test('lists each of the 253 requirements of levels 1 and 2 exactly once', () => {
    const numbers = [...rows.map(({ number }) => number), ...excluded];
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers).toHaveLength(253);
  });

  test('says how many requirements apply, and which are not met', () => {
    const unmet = rows.filter(({ where }) => where.startsWith('**Not met**')).map(({ number }) => number);
    const [, apply, met, listed] =
      /(\d+) apply, and (\d+) of them are met(?:: (.+?) (?:is|are) not)?\./.exec(text) ?? [];
    expect([Number(apply), Number(met)]).toEqual([rows.length, rows.length - unmet.length]);
    expect(listed?.split(', ') ?? []).toEqual(unmet);
  });

  test('names at least one existing file or test title for each requirement that is met', () => {
    // a row may leave out what a title begins with: its number in the checklist, or a value of
    // `each`
    const withoutStart = (text: string) => text.replaceAll(/(?<=['"`])(?:\d+(?: \([^)]+\))?: |%s )/g, '');
    const tests = globSync('{packages,test}/**/*.test.ts', { cwd: root })
      .map((file) => withoutStart(readFileSync(join(root, file), 'utf8')))
      .join('\n');
    const isTitle = (title: string): boolean =>
      ["'", '"', '`'].some((quote) => tests.includes(withoutStart(quote + title)));
    const faults = rows.flatMap(({ number, where }) => {
      const links = [...where.matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => link);
      const titles = [...where.matchAll(/`([^`]+)`/g)].map(([, title = '']) => title);
      const missing = [
        ...links.filter((link) => !existsSync(join(root, dirname(page), link))),
        ...titles.filter((title) => !isTitle(title)),
      ];
      return links.length + titles.length === 0
        ? [`${number} names nothing`]
        : missing.map((name) => `${number} ${name}`);
    });
    expect(faults).toEqual([]);
  });
});
