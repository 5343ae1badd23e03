import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import type { AuditAction } from '../../audit/audit-event.ts';
import { buildProgram } from '../../cli/command-line.ts';
import { listAuditEntries } from '../../storage/tables/audit-entry.ts';
import { changingRequests } from './changing-requests.ts';

/** Operations that change nothing. */
const readingOperations = Object.entries(operatorOperations).flatMap(([name, { method }]) =>
  method === 'GET' ? [name] : [],
);

/** Commands that change nothing in the store, and `serve`, whose store is that of its requests. */
const readingCommands = [
  ...['serve', 'config', 'audit', 'tenant list', 'keys list', 'client list', 'client show'],
  ...['client sessions', 'operator list', 'imports list', 'imports show', 'imports errors'],
  ...['login', 'logout', 'whoami', 'list', 'show', 'export', 'summary', 'findings', 'changes', 'token', 'profiles'],
  ...['sync run', 'sync status', 'sync verify'],
];

/** A run of each changing command, in this order; `FOLDER` is a folder of the test. */
const runs: readonly (readonly [command: string, action: AuditAction, ...args: string[]])[] = [
  ['migrate', 'store.migrate'],
  ['tenant create', 'tenant.create', 'acme'],
  ['tenant map-columns', 'tenant.map-columns', 'acme', 'FOLDER/mapping.json'],
  ['generate', 'records.load', '--tenant', 'acme', '--subscriptions', '3'],
  ['import', 'records.load', 'FOLDER/none.ndjson', '--tenant', 'acme'],
  ['subscription delete', 'subscription.erase', '--tenant', 'acme', '--id', 'c3ViMQ'],
  ['client create', 'client.create', '--tenant', 'acme', '--client-id', 'acme-1'],
  ['client update', 'client.update', '--client-id', 'acme-1', '--scopes', 'subscription:read'],
  ['client rotate', 'client.rotate', '--client-id', 'acme-1'],
  ['client revoke-tokens', 'client.revoke-tokens', '--client-id', 'acme-1'],
  ['client disable', 'client.disable', '--client-id', 'acme-1'],
  ['client enable', 'client.enable', '--client-id', 'acme-1'],
  ['client delete', 'client.delete', '--client-id', 'acme-1'],
  ['keys rotate', 'keys.rotate', '--now'],
  ['operator create', 'operator.create', '--name', 'night-watch'],
  ['operator revoke', 'operator.revoke', 'op-unknown'],
  ['backup', 'store.backup', 'FOLDER/backup.db'],
  ['doctor', 'store.repair', '--repair'],
  ['tenant delete', 'tenant.delete', 'acme', '--yes'],
  ['restore', 'store.restore', 'FOLDER/backup.db', '--yes'],
];

describe("each changing operation of the operator's API leaves an entry", () => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    management = await startManagement(await openSqlite());
    token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
  });
  afterAll(() => management.close());

  test('each operation is in the table of this test', () => {
    const named = [...readingOperations, ...changingRequests.map(([operation]) => operation)].sort();
    expect(named).toEqual(Object.keys(operatorOperations).sort());
  });

  test.each(changingRequests)('%s adds %s', async (operation, action, path, body) => {
    const before = await newest(management);
    const { method } = operatorOperations[operation as keyof typeof operatorOperations];
    const headers: Record<string, string> =
      operation === 'loadSubscriptions' ? { 'content-type': 'application/x-ndjson' } : {};
    const { status } = await management.send(method, `/operator/v1${path}`, {
      token,
      headers,
      ...(typeof body === 'object' && { body }),
    });
    expect(status).toBeLessThan(500);
    const after = await newest(management);
    expect(after).toMatchObject({ action, actorKind: 'operator', actorName: expect.stringMatching(/^test \d+$/) });
    expect(after?.id).toBeGreaterThan(before?.id ?? 0);
  });
});

describe('GET /operator/v1/audit', () => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    management = await startManagement(await openSqlite());
    token = await management.operatorToken('operator:read', 'operator:write');
  });
  afterAll(() => management.close());

  test('following next reads every entry that matches once, with the correlation id of its request', async () => {
    const { send } = management;
    const headers = { 'x-correlation-id': 'night-7' };
    for (const tenant of ['acme', 'globex', 'acme'])
      await send('POST', '/operator/v1/tenants', { token, headers, body: { tenant } });
    const found: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const filter = `action=tenant.create&tenant=acme&limit=1${cursor && `&cursor=${cursor}`}`;
      const { body } = await send('GET', `/operator/v1/audit?${filter}`, { token });
      found.push(...body.data);
      cursor = body.next;
    }
    const by = {
      actor: { kind: 'operator', name: expect.stringMatching(/^test \d+$/) },
      tenant: 'acme',
      correlation_id: 'night-7',
    };
    expect(found).toMatchObject([
      { ...by, outcome: 'refused', error: 'CONFLICT' },
      { ...by, outcome: 'ok', error: null },
    ]);
  });

  test('a time that does not exist gets 400 that names it, and one with UTC in words is read', async () => {
    const since = (time: string) => management.send('GET', `/operator/v1/audit?since=${time}`, { token });
    const { status, body } = await since('2026-02-31T00:00:00Z');
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('since')]);
    expect(await since('2026-02-28+00:00:00+UTC')).toMatchObject({ status: 200 });
  });

  test("the first use of an operator's token and rejected tokens are counted as sign-ins", async () => {
    const { send, tally, context } = management;
    const fresh = await management.operatorToken('operator:read');
    for (let n = 0; n < 2; n += 1) await send('GET', '/operator/v1/audit', { token: `sro_${'x'.repeat(43)}` });
    await send('POST', '/operator/v1/tenants', { token: fresh, body: { tenant: 'x' } });
    await tally.flush();
    const { entries } = await listAuditEntries(context.store, { action: 'operator.sign-in' }, { limit: 9 });
    const shown = entries.map(({ actorKind, outcome, error, details }) => [
      actorKind,
      outcome,
      error,
      JSON.parse(details).count,
    ]);
    expect(shown).toContainEqual(['anonymous', 'refused', 'INVALID_TOKEN', 2]);
    expect(shown).toContainEqual(['operator', 'refused', 'INSUFFICIENT_SCOPE', 1]);
    expect(shown).toContainEqual(['operator', 'ok', null, 1]);
    expect(JSON.stringify(entries)).not.toContain('sro_');
  });
});

const newest = async ({ context }: TestManagement) =>
  (await listAuditEntries(context.store, {}, { limit: 1 })).entries[0];

describe('each changing command leaves an entry', () => {
  let folder: string;
  const environment = () => ({ DATA_DIR: join(folder, 'data') });
  const listed = async () => JSON.parse((await runHere(['audit', '--json', '--limit', '1'], environment())).stdout);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-audited-'));
    writeFileSync(join(folder, 'none.ndjson'), '');
    writeFileSync(join(folder, 'mapping.json'), '{"columns":{"iccid":"SIM"}}');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('each command is in the tables of this test', async () => {
    const program = await buildProgram({ stdout: { write: () => true }, stderr: { write: () => true } });
    const names = leaves(program).filter((name) => name !== 'help');
    expect([...readingCommands, ...runs.map(([command]) => command)].sort()).toEqual(names.sort());
  });

  const page = readFileSync(new URL('../../../../docs/operators/audit.md', import.meta.url), 'utf8').split('\n');

  test.each(runs)('%s adds %s, with the details that its documentation lists', async (command, action, ...args) => {
    const before = action === 'store.migrate' || action === 'store.restore' ? 0 : (await listed())[0].id;
    const { code, stderr } = await runHere(
      [...command.split(' '), ...args.map((each) => each.replace('FOLDER', folder))],
      environment(),
    );
    expect([code, stderr]).not.toEqual([2, expect.anything()]);
    const [entry] = await listed();
    expect([entry.action, entry.actor.kind, stderr.includes('audit log')]).toEqual([action, 'command', false]);
    expect(entry.id).toBeGreaterThan(before);
    const documented = page.find((line) => line.startsWith(`| \`${action}\` |`));
    for (const member of Object.keys(entry.details)) expect(documented).toContain(`\`${member}\``);
  });
});

/** Functions that change the store; those of `packages/service/operator/` record what they do. */
const changing =
  /^(?:createClient|createExternalClient|(?:begin|delete|disable|edit|enable|erase|finish|insert|make|put|record|remove|replace|revoke|rewrite|rotate|update)[A-Z])/;

/** What may call them itself, and why. */
const exempt: Readonly<Record<string, string>> = {
  'demo.ts createClient': 'the demo has a store of its own',
  'demo-data.ts createClient': 'the same',
  'demo-data.ts insertTenant': 'the same',
  'demo-data.ts rotateClientSecret': 'the same',
  'sweep-regularly.ts deleteDeadFamilies': 'removes what has expired',
  'sweep-regularly.ts deleteEndedOperatorSessions': 'removes what has expired',
  'rotate-regularly.ts rotateDueKeys': 'records the rotation itself',
  'restore-command.ts replaceStore': 'recorded by recordStoreAction',
  'restore-command.ts beginHistory': 'the same',
};

test('commands and routes change the store only through packages/service/operator/', () => {
  const root = new URL('../../', import.meta.url);
  const found = ['cli/', 'http/operator/'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) =>
        [
          ...readFileSync(new URL(folder + file, root), 'utf8').matchAll(
            /import \{([^}]*)\} from '[./]+\/(?:auth|import|storage)\/[^']*'/g,
          ),
        ].flatMap(([, names = '']) => names.split(',').map((name) => `${basename(file)} ${name.trim()}`)),
      )
      .filter((each) => changing.test(each.slice(each.indexOf(' ') + 1))),
  );
  expect(found.sort()).toEqual(Object.keys(exempt).sort());
});

/** The full names of the commands without subcommands. */
const leaves = (command: Command, parents: readonly string[] = []): string[] =>
  command.commands.flatMap((child) => {
    const names = [...parents, child.name()];
    return child.commands.length === 0 ? [names.join(' ')] : leaves(child, names);
  });
