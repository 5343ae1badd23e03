import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { auditOutcomes } from '../../packages/contract/operator/audit.ts';
import { auditActions } from '../../packages/service/audit/audit-event.ts';

const page = readFileSync(new URL('../../docs/operators/audit.md', import.meta.url), 'utf8');

test('docs/operators/audit.md lists every action with its summary and the members of its details, and no other', () => {
  const rows = [...page.matchAll(/^\| `([\w-]+\.[\w-]+)` \| (.+?) \| (.*?) ?\|$/gm)].map(
    ([, name = '', summary = '', details = '']) => ({
      name,
      summary,
      details: [...details.matchAll(/`(\w+)`/g)].map(([, member]) => member),
    }),
  );
  const known = Object.entries(auditActions).map(([name, { summary, details = {} }]) => ({
    name,
    summary,
    details: Object.keys(details),
  }));
  expect(rows).toEqual(known);
});

test('docs/operators/audit.md explains every outcome and every member of the details', () => {
  const members = Object.values(auditActions).flatMap(({ details = {} }) => Object.keys(details));
  const list = page.slice(page.indexOf('\n- `'), page.indexOf('## What a flood does'));
  for (const member of members) expect(list).toMatch(new RegExp(`^- (?:\`\\w+\`, )*\`${member}\``, 'm'));
  for (const outcome of auditOutcomes) expect(page).toContain(`\`${outcome}\``);
});
