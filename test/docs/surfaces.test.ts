import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildProgram } from '../../packages/service/cli/command-line.ts';
import { unknownWords } from '../support/unknown-words.ts';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const [, table = ''] = /## Which surface for which question\n\n(.*?)\n\n/s.exec(read('docs/README.md')) ?? [];
const cells = [...table.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
const silent = { write: () => undefined };

test('the surfaces in docs/README.md are the commands that read reports, and only existing ones', async () => {
  const program = await buildProgram({ stdout: silent, stderr: silent });
  const named = cells.flatMap((cell) => (cell.startsWith('subreport ') ? [cell.split(' ').slice(1)] : []));
  const commands = program.commands.map((command) => command.name());
  expect(named.filter(([name = '']) => !commands.includes(name))).toEqual([]);
  expect(named.flatMap((words) => unknownWords(program, words))).toEqual([]);
  // these prepare the others, and return no records
  const preparing = ['login', 'logout', 'whoami', 'profiles'];
  const reading = program.commands.filter((command) => command.helpGroup() === 'Read reports:');
  const expected = reading.map((command) => command.name()).filter((name) => !preparing.includes(name));
  expect(expected.length).toBeGreaterThan(5);
  expect(expected.filter((name) => !named.some(([first]) => first === name))).toEqual([]);
});

test('the surfaces in docs/README.md are the operations of the report, and no others', () => {
  const { paths } = JSON.parse(read('openapi.json')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags: readonly string[] }>>>>;
  };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { tags }]) => tags.includes('report'))
      .map(([method]) => `${method.toUpperCase()} ${path.replace('/connect-api', '')}`),
  );
  const named = new Set(cells.filter((cell) => /^[A-Z]+ \//.test(cell)));
  expect([...named].toSorted()).toEqual(operations.toSorted());
});
