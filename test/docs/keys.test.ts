import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { signingAlgorithms } from '../../packages/contract/oauth/grant.ts';
import { clockToleranceSeconds } from '../../packages/service/auth/verify/verify-token.ts';
import { buildProgram } from '../../packages/service/cli/command-line.ts';
import { readConfig } from '../../packages/service/cli/config.ts';

const page = readFileSync(new URL('../../docs/operators/keys.md', import.meta.url), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| what'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

const silent = { write: () => undefined };
const program = await buildProgram({ stdout: silent, stderr: silent });

/** Whether a command exists and has each of the options in the line. */
function takes(line: string): boolean {
  const [, ...words] = line.split(' ');
  const command = words
    .filter((word) => !word.startsWith('-') && !['refresh', '0'].includes(word))
    .reduce<Command | undefined>((parent, word) => parent?.commands.find((each) => each.name() === word), program);
  return words
    .filter((word) => word.startsWith('-'))
    .every((word) => command?.options.some(({ long }) => long === word));
}

test('docs/operators/keys.md says how to revoke every stored secret at once, with existing commands', () => {
  expect(rows.length).toBeGreaterThan(7);
  const last = rows.map((cells) => cells.at(-2) ?? '');
  expect(last.filter((cell) => cell === '')).toEqual([]);
  const commands = last.flatMap((cell) => [...cell.matchAll(/`(subreport [^`]+)`/g)].map(([, line = '']) => line));
  expect(commands.filter((line) => !takes(line))).toEqual([]);
  expect(commands.length).toBeGreaterThan(6);
});

test('docs/operators/keys.md names every signing algorithm', () => {
  for (const algorithm of signingAlgorithms) expect(page).toContain(algorithm);
});

test('docs/readers/tokens.md says how long an access token is accepted', () => {
  const tokens = readFileSync(new URL('../../docs/readers/tokens.md', import.meta.url), 'utf8');
  const { ACCESS_TOKEN_SECONDS: lifetime } = readConfig({});
  expect(tokens).toContain(`${clockToleranceSeconds} seconds more (${lifetime + clockToleranceSeconds} in all)`);
});
