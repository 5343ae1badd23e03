import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CorpusFile, corpus as madeHere } from '../../../../test/corpus/files.ts';
import { programFiles } from '../../../../test/corpus/programs.ts';
import { drawPart } from '../../../../test/support/draw.ts';
import { openSqlite } from '../../../../test/support/engines.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { storedRecords } from '../../../../test/support/stored-records.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { loadMediaTypes } from '../../../contract/load.ts';
import { openStore } from '../../storage/open-store.ts';
import type { Store, TenantId } from '../../storage/store.ts';

const corpus = [...madeHere, ...(await programFiles())];
const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What an import has stored, and what it says. */
interface Got {
  readonly records: readonly unknown[];
  readonly skipped: number;
  readonly notes: readonly string[];
  readonly rejected: readonly string[];
  readonly refused: string | undefined;
}

function check({ expected }: CorpusFile, got: Got): void {
  if ('refused' in expected) {
    expect(got).toMatchObject({ records: [], refused: expect.stringContaining(expected.refused) });
    expect(got.refused?.length).toBeLessThanOrEqual(200);
    return;
  }
  const { records, skipped = 0, notes = [], rejected = [] } = expected;
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  expect(got).toEqual({
    records: sorted,
    skipped,
    notes,
    refused: undefined,
    rejected: rejected.map((each) => expect.stringContaining(each)),
  });
}

const sentencesOf = (
  errors: readonly { readonly errors: readonly { field: string; rule: string; value: string | null }[] }[],
) =>
  errors.map(({ errors: faults }) =>
    faults
      .map(
        ({ field, rule, value }) =>
          `${field || 'the row'} must be ${rule}${value === null ? '' : `: current value is ${value}`}`,
      )
      .join('; '),
  );

test('the corpus has at least 60 files, and no two imitate the same', () => {
  expect(new Set(corpus.map(({ imitates }) => imitates)).size).toBe(corpus.length);
  expect(corpus.length).toBeGreaterThanOrEqual(60);
});

describe('a file of the corpus, loaded by command,', () => {
  const environment = { DATA_DIR: join(folder, 'data') };
  let store: Store;
  beforeAll(() => {
    store = openStore({
      databaseUrl: undefined,
      dataDir: environment.DATA_DIR,
      poolSize: 1,
      keepsHistory: false,
      onConnectionError: () => undefined,
    });
  });
  afterAll(() => store.close());

  test.each(corpus.map((file, n) => [file.imitates, file, n] as const))(
    'is loaded whole or refused: %s',
    async (_title, file, n) => {
      const tenant = `t${n}`;
      await runHere(['tenant', 'create', tenant], environment);
      const path = join(folder, `${n}.${file.format}`);
      writeFileSync(path, file.bytes);
      const args = ['import', path, '--tenant', tenant, '--json'];
      if (file.columns !== undefined) {
        writeFileSync(join(folder, `${n}.json`), file.columns);
        args.push('--columns', join(folder, `${n}.json`));
      }
      const { stdout, stderr } = await runHere(args, environment);
      const { skipped = 0, notes = [], errors = [] } = stdout === '' ? {} : JSON.parse(stdout);
      const refused = stdout === '' ? stderr.trim() : undefined;
      check(file, {
        records: await storedRecords(store, tenant as TenantId),
        skipped,
        notes,
        rejected: sentencesOf(errors),
        refused,
      });
    },
  );
});

describe('a file of the corpus, loaded over HTTP,', () => {
  let service: TestService;
  let management: string;
  beforeAll(async () => {
    const port = await freePort();
    management = `http://127.0.0.1:${port}`;
    service = await startService(await openSqlite(), { MANAGEMENT_PORT: String(port) });
  });
  afterAll(() => service.close());

  // the command and the operator's API run the same import
  test.each(drawPart(corpus, 4).map((file, n) => [file.imitates, file, n] as const))(
    'is loaded whole or refused: %s',
    async (_title, file, n) => {
      const tenant = await service.createTenant(`t${n}`);
      const token = await service.accessToken(await service.createClient(tenant, { scopes: ['subscription:write'] }));
      const query =
        file.columns === undefined
          ? ''
          : `?${new URLSearchParams({ columns: JSON.stringify(JSON.parse(file.columns)) })}`;
      const response = await fetch(`${management}/operator/v1/tenants/t${n}/subscriptions${query}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': loadMediaTypes[file.format] },
        body: new Uint8Array(file.bytes),
      });
      const {
        skipped = 0,
        notes = [],
        errors = [],
        detail,
      } = (await response.json()) as never as Record<string, never>;
      expect(response.status).toBe('refused' in file.expected ? 400 : 200);
      check(file, {
        records: await storedRecords(service.store, tenant),
        skipped,
        notes,
        rejected: sentencesOf(response.ok ? errors : []),
        refused: detail,
      });
    },
  );
});
