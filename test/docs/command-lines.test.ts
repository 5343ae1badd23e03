import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { buildProgram } from '../../packages/service/cli/command-line.ts';
import { unknownWords } from '../support/unknown-words.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const silent = { write: () => undefined };
const program = await buildProgram({ stdout: silent, stderr: silent });

/** The command lines of subreport in shell code, as words. */
const commandLinesOf = (code: string): string[][] =>
  [...code.replaceAll('\\\n', ' ').matchAll(/(?:^ *|[$|;(] ?|npx )subreport ([a-z-][^|;>)#\n]*)/gm)].map(
    ([, words = '']) => words.trim().split(/\s+/),
  );

/** The code blocks of a page. */
const codeOf = (page: string): string =>
  [...readFileSync(`${root}${page}`, 'utf8').matchAll(/^ *```(?:sh|bash|text)\n(.*?)^ *```/gms)]
    .map(([, block = '']) => block)
    .join('\n');

/** The help of a command and of all commands below it, with notes and examples. */
function helpOf(command: Command): string[] {
  let text = '';
  command.configureOutput({ writeOut: (more) => (text += more) });
  command.outputHelp();
  return [text, ...command.commands.flatMap(helpOf)];
}

const unknownIn = (lines: readonly string[][]): string[] =>
  lines.filter((words) => unknownWords(program, words).length > 0).map((words) => words.join(' '));

test('every command line of subreport in the documentation has a command and options that exist', () => {
  const lines = globSync(['*.md', 'docs/**/*.md'], { cwd: root, exclude: ['CHANGELOG.md'] }).flatMap((page) =>
    commandLinesOf(codeOf(page)),
  );
  expect(lines.length).toBeGreaterThan(40);
  expect(unknownIn(lines)).toEqual([]);
});

test('every example in the help of a command has a command and options that exist', () => {
  const examples = helpOf(program).flatMap((help) => commandLinesOf(help.split(/^Examples?:$/m)[1] ?? ''));
  expect(examples.length).toBeGreaterThan(80);
  expect(unknownIn(examples)).toEqual([]);
});

test('a day has the same year in the help of all commands', () => {
  const yearsOf = new Map<string, Set<string>>();
  for (const [, year = '', day = ''] of helpOf(program)
    .join('\n')
    .matchAll(/\b(\d{4})-(\d\d-\d\d)/g))
    yearsOf.set(day, (yearsOf.get(day) ?? new Set()).add(year));
  const days = [...yearsOf].map(([day, years]) => `${[...years].join(' or ')}-${day}`);
  expect(days.sort()).toEqual(['2024-05-01', '2026-01-01', '2026-10-31']);
});

test('the help of a command names options, and nothing that only a request over HTTP has', () => {
  const foreign = /all=true|X-[A-Z][a-z]+-|in a URL|(?<![-\w])(?:date-field|expires-within)(?![-\w])/g;
  const texts = helpOf(program).map((help) => help.replaceAll(/\s+/g, ' '));
  expect(texts.flatMap((text) => text.match(foreign) ?? [])).toEqual([]);
});
