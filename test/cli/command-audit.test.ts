import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runHere } from '../support/run-here.ts';

let folder: string;
let environment: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-audit-'));
  environment = { DATA_DIR: join(folder, 'data') };
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (args: readonly string[], more: Record<string, string> = {}, input = '') =>
  runHere(args, { ...environment, ...more }, input);
const linesOf = (file: string): Record<string, unknown>[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('each changing command adds an audit line with its user and exit code, and no secret (16.3.3)', async () => {
  await run(['tenant', 'create', 'acme']);
  const secret = 'a secret that nobody but the client may know 0123456789';
  const created = await run(['client', 'create', '--tenant', 'acme', '--secret-stdin', '--json'], {}, secret);
  const { client_id } = JSON.parse(created.stdout) as { client_id: string };
  await run(['client', 'disable', '--client-id', client_id]);
  await run(['client', 'disable', '--client-id', 'nobody']);
  await run(['import', '-', '--tenant', 'acme', '--format', 'ndjson'], {}, '{"id":"x"}\n');
  for (const reading of [['tenant', 'list'], ['config'], ['client', 'disable']]) await run(reading);
  const file = join(folder, 'data', 'audit.log');
  const by = { msg: 'command', os_user: userInfo().username, time: expect.any(String) };
  expect(linesOf(file)).toMatchObject([
    { ...by, command: 'tenant create', arguments: ['acme'], exit_code: 0 },
    { ...by, command: 'client create', options: { tenant: 'acme', secretStdin: true }, client_id, exit_code: 0 },
    { ...by, command: 'client disable', options: { clientId: client_id }, exit_code: 0 },
    { ...by, command: 'client disable', options: { clientId: 'nobody' }, exit_code: 1 },
    { ...by, command: 'import', options: { tenant: 'acme' }, exit_code: 1 },
  ]);
  expect(readFileSync(file, 'utf8')).not.toContain(secret);
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
});

test('AUDIT_FILE sets the audit file; a file that cannot be written is reported and fails no command (16.4.2)', async () => {
  const AUDIT_FILE = join(folder, 'elsewhere', 'audit.log');
  expect((await run(['tenant', 'create', 'acme'], { AUDIT_FILE })).stderr).toBe('');
  expect(linesOf(AUDIT_FILE)).toHaveLength(1);
  expect(existsSync(join(folder, 'data', 'audit.log'))).toBe(false);
  const { code, stderr } = await run(['tenant', 'create', 'globex'], { AUDIT_FILE: folder });
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Cannot write the audit line: AUDIT_FILE must be .*\n$/)]);
});
