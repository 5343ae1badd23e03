import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connections } from '../../tools/connections-table.ts';

const root = new URL('../../', import.meta.url).pathname;

/** What opens connections: the modules of the rules, and what a lint rule forbids elsewhere. */
const opener = /from '[^']*outgoing\/(fetch|request|database)\.ts'/;

test('the table of connections has each module of a program that opens one', () => {
  const opening = globSync('packages/{cli,mcp,terminal}/**/*.ts', { cwd: root })
    .filter((file) => !/\/test\/|\.test\.ts$|\/outgoing\//.test(file))
    .filter((file) => opener.test(readFileSync(`${root}${file}`, 'utf8')));
  expect(connections.flatMap(({ modules }) => modules).sort()).toEqual(opening.sort());
});
