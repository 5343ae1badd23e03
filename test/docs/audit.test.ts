import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { auditOutcomes, callerActionNames, operatorActionNames } from '../../packages/contract/operator/audit.ts';

const page = readFileSync(new URL('../../docs/operators/audit.md', import.meta.url), 'utf8');

const rows = [...page.matchAll(/^\| `([\w-]+\.[\w-]+)` \| .+? \| (.*?) ?\|$/gm)];

test('docs/operators/audit.md lists every action, and no other', () => {
  expect(rows.map(([, name]) => name)).toEqual([...operatorActionNames, ...callerActionNames]);
});

test('docs/operators/audit.md explains every outcome and every member of the details', () => {
  const members = rows.flatMap(([, , details = '']) => [...details.matchAll(/`(\w+)`/g)].map(([, member]) => member));
  const list = page.slice(page.indexOf('\n- `'), page.indexOf('## What a flood does'));
  for (const member of members) expect(list).toMatch(new RegExp(`^- (?:\`\\w+\`, )*\`${member}\``, 'm'));
  for (const outcome of auditOutcomes) expect(page).toContain(`\`${outcome}\``);
});
