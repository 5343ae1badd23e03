import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const files = globSync(['{packages,test,docs,bench,tools}/**/*.{ts,md}', '*.md'], {
  cwd: root,
  exclude: ['**/node_modules'],
}).filter((file) => !file.includes('docs/references.test.ts'));

/** Sections of the specification by title: headings, and paragraphs that begin in bold. */
const sections = new Map(
  [...read('docs/contributors/spec.md').matchAll(/^(?:#+ |\*\*)([^\n*:]+)(.*?)(?=^#+ |^\*\*|$(?![\s\S]))/gms)].map(
    ([, title = '', text = '']) => [title.replaceAll('`', '').trim(), text],
  ),
);
const sectionOf = (title: string): string | undefined =>
  [...sections].find(([name]) => name === title || name.startsWith(`${title} (`))?.[1];

/**
 * References such as `docs/contributors/spec.md` "Authentication" items 2 to 4, even across the
 * lines of a comment.
 */
const references = files.flatMap((file) =>
  [
    ...read(file)
      .replaceAll(/\s*\n\s*(?:\*|\/\/)? ?/g, ' ')
      .matchAll(/spec\.md`?,? "([^"]+)"(?:,? items? (\d+)(?:(?:, | and | to )(\d+))?)?/g),
  ].map(([text, title = '', ...items]) => ({ file, text, title, items: items.filter((item) => item !== undefined) })),
);

test('every reference to the specification names an existing section and existing items', () => {
  expect(references.length).toBeGreaterThan(15);
  const broken = references.filter(({ title, items }) => {
    const section = sectionOf(title);
    return section === undefined || items.some((item) => !new RegExp(`^${item}\\. `, 'm').test(section));
  });
  expect(broken).toEqual([]);
});

test('each suite of test/spec is titled by a section of the specification', () => {
  const titles = [...read('test/spec/spec.test.ts').matchAll(/^ +describe\('([^']+)'/gm)].flatMap(([, title = '']) =>
    title.split(' › '),
  );
  expect(titles.length).toBeGreaterThan(10);
  expect(titles.filter((title) => !sections.has(title))).toEqual([]);
});
