import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { settings } from '../../packages/service/cli/config.ts';
import { bodyMsMax } from '../../packages/service/http/listener/base-server.ts';
import { changeMsMax, operationMsDefault } from '../../packages/service/storage/deadline.ts';
import { connectMsMax } from '../../packages/service/storage/postgres/connect.ts';
import { silenceMsMax } from '../../packages/service/storage/postgres/listener.ts';
import { statementMsMax } from '../../packages/service/storage/postgres/replacement.ts';
import { plannerOptions, serverTimeouts } from '../../packages/service/storage/postgres/session.ts';
import { statementMs } from '../../packages/service/storage/postgres/snapshot.ts';

const page = readFileSync(new URL('../../docs/operators/operating.md', import.meta.url), 'utf8');

describe('docs/operators/operating.md', () => {
  test.each([
    ['a request, until its response begins', settings.REQUEST_SECONDS_MAX.fallback * 1000],
    ['of which: acquiring a connection', connectMsMax],
    ["of which: waiting for another process's write", operationMsDefault],
    ['receiving a request body', bodyMsMax],
    ['noticing a change by another process', silenceMsMax],
    ['work shared by several requests', operationMsDefault],
    ['one batch of an import', changeMsMax],
    ['one statement of an export', statementMs],
    ['one statement of a replacement', statementMsMax],
  ])('gives the longest time of %s', (what, ms) => {
    const row = page.split('\n').find((line) => line.startsWith(`| ${what}`)) ?? '';
    const shown = ms >= 3_600_000 ? `${ms / 3_600_000} h` : `${ms / 1000} s`;
    expect(row.split('|')[2]).toContain(shown);
  });

  test('limits every wait within a request to less than 8 s', () => {
    expect(
      Math.max(settings.REQUEST_SECONDS_MAX.fallback * 1000, operationMsDefault, connectMsMax, bodyMsMax),
    ).toBeLessThan(8_000);
  });

  test('sets every option for the role that a pooler does not pass on', () => {
    for (const option of plannerOptions)
      expect(page).toContain(`alter role subreport set ${option.replace('=', ' = ')};`);
    for (const [name, ms] of Object.entries(serverTimeouts(operationMsDefault))) {
      const shown = ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
      expect(page).toContain(`alter role subreport set ${name} = '${shown}';`);
    }
  });
});

test('each line of deploy/pgbouncer.ini has a comment of its own', () => {
  const lines = readFileSync(new URL('../../deploy/pgbouncer.ini', import.meta.url), 'utf8').split('\n');
  const set = lines.flatMap((line, at) => (/^\w+ = /.test(line) ? [[line, lines[at - 1]]] : []));
  expect(set.length).toBeGreaterThan(10);
  expect(set.filter(([, before]) => !before?.startsWith('; '))).toEqual([]);
});
