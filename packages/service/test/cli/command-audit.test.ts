import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';

let folder: string;
let environment: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-audit-'));
  environment = { DATA_DIR: join(folder, 'data') };
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (args: readonly string[], more: Record<string, string> = {}) => runHere(args, { ...environment, ...more });
const createOperator = (name: string, more = {}) => run(['operator', 'create', '--name', name], more);
const listed = async (...args: string[]) => JSON.parse((await run(['audit', '--json', ...args])).stdout);
const actor = { kind: 'command', id: userInfo().username, name: null };

test('a command that changes something is listed with its user and its target, newest first', async () => {
  const { stdout } = await createOperator('night-watch');
  const id = /op-\w+/.exec(stdout)?.[0] ?? '';
  await run(['operator', 'revoke', 'op-unknown']);
  expect(await listed()).toMatchObject([
    {
      action: 'operator.revoke',
      actor,
      outcome: 'refused',
      error: 'NOT_FOUND',
      details: { operator_id: 'op-unknown' },
    },
    { action: 'operator.create', actor, outcome: 'ok', error: null, details: { operator_id: id } },
  ]);
  expect(await listed('--outcome', 'ok', '--since', '1h')).toHaveLength(1);
  expect(await listed('--until', '1h')).toEqual([]);
  const { stdout: table } = await run(['audit', '--limit', '1']);
  expect(table).toMatch(/^ID +TIME .*\n2 +.*operator\.revoke.* refused: NOT_FOUND .*operator_id=op-unknown\n$/);
});

test.each([
  [['audit'], 'entries'],
  [['audit', '--json'], 'entries'],
  [['imports', 'list'], 'imports'],
  [['imports', 'list', '--json'], 'imports'],
])('%j says that its list is longer than --limit, and not that a whole one is', async (args, what) => {
  const row = `${JSON.stringify({ id: 'a' })}\n`;
  await run(['tenant', 'create', 'acme']);
  for (let n = 0; n < 2; n += 1) {
    const loaded = await runHere(['import', '-', '--format', 'ndjson', '--tenant', 'acme'], environment, row);
    expect(loaded.stderr).toContain('line 1: activationDate must be given');
  }
  const plain = args.filter((arg) => arg !== '--json');
  const all = JSON.parse((await run([...plain, '--json', '--limit', '50'])).stdout).length;
  expect(all).toBeGreaterThanOrEqual(2);
  const saidOf = async (limit: number) => (await run([...args, '--limit', String(limit)])).stderr;
  expect(await saidOf(all - 1)).toBe(`Older ${what} are not listed: use a larger --limit\n`);
  expect([await saidOf(all), await saidOf(all + 1)]).toEqual(['', '']);
});

test('with --ndjson, every entry after an id is one line, oldest first', async () => {
  for (const name of ['first', 'second', 'third']) await createOperator(name);
  const { stdout } = await run(['audit', '--ndjson', '--after', '1']);
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual([2, 3]);
  expect(await run(['audit', '--after', '1'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--ndjson') });
});

test('with AUDIT_FILE, each entry is also a line of JSON in a file of mode 0600 (16.4.2)', async () => {
  const AUDIT_FILE = join(folder, 'elsewhere', 'audit.log');
  await createOperator('night-watch', { AUDIT_FILE });
  const line = JSON.parse(readFileSync(AUDIT_FILE, 'utf8'));
  const [entry] = await listed();
  expect(line).toEqual({ level: 'info', time: expect.any(String), service: 'subreport', msg: 'audit', ...entry });
  expect((statSync(AUDIT_FILE).mode & 0o777).toString(8)).toBe('600');
});

// mkdir of Node never ends in /proc
test.each([
  ['a folder', () => folder],
  ['in /proc', () => '/proc/subreport/audit.log'],
])('a file that is %s is reported, fails no command, and the database has the entry', async (_where, fileOf) => {
  const { code, stderr } = await runCommand(['operator', 'create', '--name', 'night-watch'], {
    environment: { ...environment, AUDIT_FILE: fileOf() },
  });
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Cannot write the audit line: AUDIT_FILE must be .*\n$/)]);
  expect(await listed()).toHaveLength(1);
});
