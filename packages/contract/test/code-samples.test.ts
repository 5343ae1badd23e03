import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf } from '../../../test/support/command-folder.ts';
import { engines } from '../../../test/support/engines.ts';
import { runCommand } from '../../../test/support/run-command.ts';
import { startService, type TestClient, type TestService } from '../../../test/support/service.ts';
import { freePort } from '../../../tools/free-port.ts';
import { exampleLine, exampleSubscription } from '../../../tools/openapi/examples.ts';
import { generateOperatorToken, hashOperatorToken } from '../../service/auth/verify/authorize-operator.ts';
import { importRecords } from '../../service/import/import-records.ts';
import { insertOperatorToken } from '../../service/storage/tables/operator-token.ts';

interface Operation {
  readonly operationId: string;
  readonly 'x-codeSamples': readonly { readonly lang: string; readonly source: string }[];
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** One sample of each kind of request: a query string, a PATCH with JSON, a POST without a body. */
const operatorSamples = ['loadSubscriptions', 'listClients', 'updateClient', 'enableClient'];
const operatorToken = generateOperatorToken();

let service: TestService;
let client: TestClient;
let management: string;
let folder: string;
let operations: readonly Operation[];

beforeAll(async () => {
  const port = await freePort();
  management = `http://127.0.0.1:${port}`;
  service = await startService(await engines[0].openTestStore(), { MANAGEMENT_PORT: String(port) });
  const tenant = await service.createTenant('acme');
  client = await service.createClient(tenant, { scopes: ['subscription:read', 'subscription:write'] });
  await service.createClient(tenant, { clientId: 'acme-reporting' });
  const operator = { id: 'op-1', name: 'test', scopes: ['operator:read', 'operator:write'] };
  const token = { ...operator, createdAt: 0, expiresAt: null };
  await insertOperatorToken(service.store, token, hashOperatorToken(operatorToken));
  const source = (async function* () {
    yield Buffer.from(exampleLine);
  })();
  await importRecords(service.store, tenant, source, {
    format: 'ndjson',
    dryRun: false,
    onRejected: () => undefined,
  });
  folder = mkdtempSync(join(tmpdir(), 'subreport-samples-'));
  writeFileSync(join(folder, 'subscriptions.ndjson'), exampleLine);
  operations = [
    ...(await operationsOf(service.url)),
    ...(await operationsOf(management)).filter(({ operationId }) => operatorSamples.includes(operationId)),
  ];
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.close();
});

async function operationsOf(url: string): Promise<Operation[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  return Object.values(paths).flatMap((item) => Object.values(item));
}

/** The samples of a language by operation, for this service. */
const samplesOf = (lang: string): readonly (readonly [string, string])[] =>
  operations.map((operation) => {
    const source = operation['x-codeSamples'].find((sample) => sample.lang === lang)?.source ?? '';
    // the history of this service has just begun
    const begun = source.replaceAll(
      /2026-10-31T00(?::|%3A)00(?::|%3A)00Z/g,
      `${new Date().toISOString().slice(0, 19)}Z`,
    );
    return [operation.operationId, begun.replaceAll('http://127.0.0.1:9464', management)];
  });

/** Runs the samples of a language; each has a token of its own, because one revokes it. */
async function outputsOf(lang: string, program: (source: string) => string[]): Promise<Record<string, string>> {
  const outputs: Record<string, string> = {};
  for (const [operationId, source] of samplesOf(lang)) {
    const environment = {
      CLIENT_ID: client.client_id,
      CLIENT_SECRET: client.client_secret,
      ACCESS_TOKEN: await service.accessToken(client),
      OPERATOR_TOKEN: operatorToken,
    };
    const [name = '', ...args] = program(source);
    const result = await runCommand(args, { program: [name], environment, cwd: folder });
    expect([result.code, result.stderr], `${operationId}: ${source}`).toEqual([0, '']);
    outputs[operationId] = result.stdout;
  }
  return outputs;
}

/** Asserts on the responses that a program printed. */
function expectResponses(outputs: Record<string, string>): void {
  const json = (name: string) => JSON.parse(outputs[name] ?? '');
  const { id, expirationDate } = exampleSubscription;
  expect(json('listSubscriptions')).toEqual([{ id, expirationDate }]);
  expect(json('getSubscription')).toEqual(exampleSubscription);
  expect(json('searchSubscriptions')).toEqual([exampleSubscription]);
  expect(json('getSubscriptionSummary')).toEqual({
    total: 1,
    by: { status: [{ value: 'ACTIVE', count: 1 }], month: [{ value: '2024-05', count: 1 }] },
  });
  expect(json('listSubscriptionChanges').changes).toEqual([exampleSubscription]);
  expect(json('getChangesSummary')).toMatchObject({ changed: 0, removed: 0 });
  expect(json('issueToken').token_type).toBe('Bearer');
  expect(outputs.revokeToken?.trim()).toBe('');
  expect(json('introspectToken').active).toBe(true);
  expect(json('loadSubscriptions')).toMatchObject({ read: 1, accepted: 1, unchanged: 1 });
  expect(json('listClients').data).toHaveLength(2);
  for (const name of ['updateClient', 'enableClient'])
    expect(json(name)).toMatchObject({ client_id: 'acme-reporting', scopes: ['subscription:read'] });
  for (const name of ['getHealth', 'getReadiness']) expect(json(name)).toEqual({ status: 'ok' });
  for (const name of ['getAuthorizationServerMetadata', 'getOpenidConfiguration'])
    expect(json(name).token_endpoint).toBe(`${service.url}/oauth2/token`);
  expect(json('getKeySet').keys).not.toEqual([]);
  expect(json('getOpenapi').openapi).toBe('3.1.0');
}

describe('the code samples of the OpenAPI documents', () => {
  test('each curl sample prints what its operation returns', async () => {
    expectResponses(await outputsOf('Shell', (source) => ['sh', '-c', source.replaceAll('curl ', 'curl -sSf ')]));
  });

  test.runIf(hasPython)('each Python sample prints what its operation returns', async () => {
    expectResponses(await outputsOf('Python', (source) => ['python3', '-c', source]));
  });

  test('each TypeScript sample, and the first one of each page, compiles in strict mode', async () => {
    const project = join(folder, 'typescript');
    mkdirSync(join(project, 'node_modules/@subreport'), { recursive: true });
    symlinkSync(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'));
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    for (const [operationId, source] of samplesOf('TypeScript'))
      writeFileSync(join(project, `${operationId}.ts`), `${source}\nexport {};\n`);
    for (const [index, page] of [
      'packages/client/README.md',
      'docs/readers/client.md',
      'docs/readers/read-every-page.md',
    ].entries()) {
      const [first = ''] = blocksOf(readFileSync(join(root, page), 'utf8').replaceAll(/^ {3}/gm, ''), 'js');
      expect(first, page).toContain('createClient({');
      writeFileSync(join(project, `page${index}.ts`), first);
    }
    const compilerOptions = {
      noEmit: true,
      strict: true,
      module: 'NodeNext',
      target: 'ES2024',
      types: ['node'],
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      paths: { '@subreport/client': [join(root, 'packages/client/index.ts')] },
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const { code, stdout } = await runCommand(['-p', project], { program: [join(root, 'node_modules/.bin/tsc')] });
    expect([code, stdout]).toEqual([0, '']);
  });
});
