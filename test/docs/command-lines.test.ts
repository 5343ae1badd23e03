import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildProgram } from '../../packages/service/cli/command-line.ts';
import { unknownWords } from '../support/unknown-words.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const silent = { write: () => undefined };

/** The command lines of subreport in the code blocks of a page, as words. */
function commandLinesIn(page: string): string[][] {
  const text = readFileSync(`${root}${page}`, 'utf8').replaceAll('\\\n', ' ');
  const blocks = [...text.matchAll(/^ *```(?:sh|bash|text)\n(.*?)^ *```/gms)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    [...block.matchAll(/(?:^|[$|;(] ?|npx )subreport ([a-z-][^|;>)#\n]*)/gm)].map(([, words = '']) =>
      words.trim().split(/\s+/),
    ),
  );
}

test('every command line of subreport in the documentation has a command and options that exist', async () => {
  const program = await buildProgram({ stdout: silent, stderr: silent });
  const lines = globSync(['*.md', 'docs/**/*.md'], {
    cwd: root,
    exclude: ['CHANGELOG.md', 'docs/readers/command-line.md'],
  }).flatMap((page) => commandLinesIn(page).map((words) => ({ page, words })));
  expect(lines.length).toBeGreaterThan(40);
  const wrong = lines.map(({ page, words }) => ({
    page,
    words: words.join(' '),
    unknown: unknownWords(program, words),
  }));
  expect(wrong.filter(({ unknown }) => unknown.length > 0)).toEqual([]);
});
