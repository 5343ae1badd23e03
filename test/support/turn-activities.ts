import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { ndjsonOf } from '../../packages/service/cli/store/generate-command.ts';
import { type SyntheticRow, syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import type { MeteredService } from './metered-service.ts';
import { finishExport, openExport } from './read-export.ts';
import type { TestClient } from './service.ts';

/** The reference time of the synthetic records: 2026-01-01T00:00:00Z. */
export const until = 1_767_225_600;

/** The tenant that all probe requests use. */
export interface ProbedTenant {
  readonly name: string;
  readonly records: number;
  /** May read and write. */
  readonly client: TestClient;
}

/** Longest turn of one activity. */
export interface ActivityTurns {
  readonly activity: string;
  /** CPU milliseconds of the main thread in the longest turn of each round. */
  readonly longestMs: readonly number[];
  /**
   * Responses of `/healthz` and of the token endpoint during the activity, and those that failed.
   */
  readonly answers: number;
  readonly failures: readonly string[];
}

/**
 * Measures each activity in several rounds, after a warm-up round, while requesting `/healthz` and
 * the token endpoint. The garbage collector and the compiler occasionally cause a long turn in some
 * round, but the cost of a statement is in every round, so the minimum of `longestMs` shows it: an
 * activity has no more rounds once one is within `enoughMs`.
 */
export async function measureActivities(
  service: MeteredService,
  tenant: ProbedTenant,
  rounds: number,
  onMeasured: (turns: ActivityTurns) => void = () => undefined,
  only = /(?:)/,
  enoughMs = 0,
): Promise<readonly ActivityTurns[]> {
  const measured: ActivityTurns[] = [];
  for (const [activity, work] of Object.entries(activities)) {
    if (!only.test(activity)) continue;
    const longestMs: number[] = [];
    const watch = watchAnswers(service, tenant);
    for (let round = 0; round <= rounds && !longestMs.some((ms) => ms <= enoughMs); round += 1) {
      const token = await issueToken(service, tenant);
      await service.takeTurns();
      await work({ service, tenant, token, round });
      const turns = await service.takeTurns();
      if (round > 0) longestMs.push(turns.longestMs);
    }
    const turns = { activity, longestMs, ...(await watch.stop()) };
    onMeasured(turns);
    measured.push(turns);
  }
  return measured;
}

interface Round {
  readonly service: MeteredService;
  readonly tenant: ProbedTenant;
  readonly token: string;
  readonly round: number;
}

const manyStatuses = 'status=ACTIVE,DEPLETED,EXPIRED,PENDING';

/** The query changes from round to round, so that no work of an earlier one is used. */
const activities: Readonly<Record<string, (round: Round) => Promise<void>>> = {
  'short pages': async (at) => {
    for (let page = 1; page <= 50; page += 1) await getPage(at, `size=50&page=${page}&created-to=${day(at.round)}`);
  },
  'deep pages': async (at) => {
    const last = Math.floor(at.tenant.records / 1000);
    for (let back = 0; back < 10; back += 1)
      await getPage(at, `size=1000&page=${Math.max(1, last - at.round * 10 - back)}`);
    await getPage(at, `size=1000&${manyStatuses}&page=${Math.max(1, Math.floor(last / 2) - at.round)}`);
  },
  'deep pages of another order': async (at) => {
    const page = Math.max(1, Math.floor(at.tenant.records / 50) - at.round);
    await Promise.all([
      getPage(at, `sort=-activationDate&size=50&page=${page}`),
      getPage(at, `sort=expirationDate&auto-renew=true&size=50&page=${Math.floor(page / 4) - at.round}`),
    ]);
  },
  'several statuses with bounds of another date': async (at) => {
    const page = Math.floor(at.tenant.records / 200);
    await getPage(at, `${manyStatuses}&date-field=expiration&after=${day(at.round, 2023)}&size=50&page=${page}`);
    await getPage(at, `${manyStatuses}&date-field=activation&before=${day(at.round)}&sort=-expirationDate&size=50`);
  },
  'narrow filters without an index': async (at) => {
    await getPage(at, `plan-id=none-${at.round}&auto-renew=true&${manyStatuses}&size=50`);
    await getPage(at, `auto-renew=true&status=PENDING&date-field=activation&after=${day(at.round)}&size=50`);
  },
  summaries: async (at) => {
    const paths = [
      `by=status,product-id,auto-renew,month&date-field=expiration&after=${day(at.round, 2023)}`,
      `by=plan-id,month&created-from=${day(at.round, 2023)}`,
      `by=day&date-field=expiration&auto-renew=true&after=${day(at.round, 2025)}&before=2026-01-01T00:00:00Z`,
    ];
    await Promise.all(paths.map((query) => getOk(at, `/v1/subscription/summary?${query}`)));
  },
  'summaries of a time zone, which is not in memory': async (at) => {
    const zone = ['Europe/Berlin', 'America/St_Johns', 'Asia/Gaza', 'Pacific/Chatham', 'Europe/Dublin'][at.round % 5];
    const paths = [
      `by=month&date-field=expiration&zone=${zone}`,
      `by=day,product-id&zone=${zone}&after=${day(at.round, 2024)}&before=${day(at.round)}`,
    ];
    await Promise.all(paths.map((query) => getOk(at, `/v1/subscription/summary?${query}`)));
  },
  'a list of 1,000 ICCIDs, and some fields': async (at) => {
    const response = await get(at, `/v1/subscription?size=1000&page=${at.round + 1}&fields=iccid`);
    const iccid = ((await response.json()) as { readonly iccid: string }[]).map((record) => record.iccid);
    await search(at, { iccid, fields: ['iccid', 'status', 'expirationDate'], size: 1_000 });
  },
  findings: async (at) => {
    // so that none are in memory
    await load(at, '', syntheticRows({ count: 1, seed: 5_000 + at.round, until }));
    await getOk(at, '/v1/subscription/findings');
  },
  'whole reports': async (at) => {
    await Promise.all(['ndjson', 'csv'].map((format) => exportAll(at, `format=${format}`)));
  },
  'whole reports of another order': async (at) => {
    await Promise.all(
      ['ndjson&sort=-activationDate&product-id=P5', 'csv&auto-renew=true'].map((query) =>
        exportAll(at, `format=${query}`),
      ),
    );
  },
  'an import': (at) => load(at, '', syntheticRows({ count: 5_000, seed: 1_000 + at.round, until })),
  'loads of rejected rows, several at once': async (at) => {
    await Promise.all([load(at, '', rejectedRows(3_000)), load(at, '?dry-run=true', rejectedRows(3_000))]);
  },
  'a replacement of all records': (at) => load(at, '?replace=true', changedRecords(at)),
  'a whole report and a summary of the past': async (at) => {
    const { headers } = await get(at, '/v1/subscription/summary?by=status');
    const past = `as-of=${Number(headers.get('x-revision')) - 1 - at.round}`;
    await Promise.all([exportAll(at, `format=ndjson&${past}`), getOk(at, `/v1/subscription/summary?${past}`)]);
  },
  'changes with what was before': async (at) => {
    const refused = await get(at, `/v1/subscription/changes?before=true&since=${day(at.round, 2020)}`);
    const { history_begins_at: begin } = (await refused.json()) as { history_begins_at?: string };
    await getOk(at, `/v1/subscription/changes?before=true&size=1000&since=${begin}`);
    await getOk(at, `/v1/subscription/changes?kind=removed&size=1000&since=${begin}`);
  },
  'an erasure of records with many versions': async (at) => {
    for (let version = 0; version < 10; version += 1) await load(at, '', versionsOf(at, 'erased', 500, version));
    const ids = [...versionsOf(at, 'erased', 500, 0)].map(({ id }) => id);
    await at.service.work({ kind: 'erase', tenant: at.tenant.name as TenantId, ids });
  },
  'a sweep of the history': async (at) => {
    for (let version = 0; version < 2; version += 1) await load(at, '', versionsOf(at, 'swept', 5_000, version));
    await at.service.work({ kind: 'sweep' });
  },
};

/** Rows that cost the most to reject: nested, long, and with members that are nearly known. */
function* rejectedRows(count: number): Generator<object> {
  const names = ['activationDat', 'expirationDat', 'createdDat', 'productt', 'device_idd', 'auto_renw'];
  const near = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${names[n % names.length]}${n}`, n]));
  const nested = JSON.parse(`${'['.repeat(7_000)}${']'.repeat(7_000)}`);
  const long = 'x'.repeat(16_000);
  for (let n = 0; n < count; n += 1) yield [{ ...near, n }, { nested }, { product: near }, { id: long }][n % 4] ?? {};
}

/** The tenant's records as loaded, every hundredth changed. */
function* changedRecords({ tenant, round }: Round): Generator<SyntheticRow> {
  let index = 0;
  for (const row of syntheticRows({ count: tenant.records, seed: 1, until })) {
    index += 1;
    yield index % 100 === round ? { ...row, device_id: `device-of-round-${round}` } : row;
  }
}

/** Records of their own, which differ from version to version and from round to round. */
function* versionsOf({ round }: Round, name: string, count: number, version: number): Generator<SyntheticRow> {
  let n = 0;
  for (const row of syntheticRows({ count, seed: 7, until })) {
    yield { ...row, id: `${name}${n}`, device_id: `device-${round}-${version}` };
    n += 1;
  }
}

/** Midnight of a day that differs from round to round. */
const day = (round: number, year = 2025): string => `${year}-06-${String(10 + round)}T00:00:00Z`;

const getPage = (at: Round, query: string): Promise<void> => getOk(at, `/v1/subscription?${query}`);

const get = ({ service, token }: Round, path: string): Promise<Response> =>
  fetch(`${service.url}/connect-api${path}`, { headers: { authorization: `Bearer ${token}` } });

async function getOk(at: Round, path: string): Promise<void> {
  const response = await get(at, path);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`);
}

async function search({ service, token }: Round, body: object): Promise<void> {
  const response = await fetch(`${service.url}/connect-api/v1/subscription/search`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(`search: ${response.status} ${answer}`);
}

async function exportAll({ service, token }: Round, query: string): Promise<void> {
  const {
    status,
    trailers,
    text: body,
  } = await finishExport(await openExport(`${service.url}/connect-api/v1/subscription?all=true&${query}`, token));
  if (status !== 200 || trailers['x-export-rows'] === undefined)
    throw new Error(`${query}: ${status} ${body.slice(0, 200)}`);
}

async function load({ service, tenant, token }: Round, query: string, rows: Iterable<object>): Promise<void> {
  const path = `/operator/v1/tenants/${tenant.name}/subscriptions${query}`;
  const request = httpRequest(`${service.management}${path}`, {
    method: 'PUT',
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
  });
  const [, [response]] = await Promise.all([
    pipeline(Readable.from(ndjsonOf(rows)), request),
    once(request, 'response') as Promise<[IncomingMessage]>,
  ]);
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`PUT ${path}: ${response.statusCode} ${answer}`);
}

async function issueToken({ url }: MeteredService, { client }: ProbedTenant): Promise<string> {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...client });
  const response = await fetch(`${url}/oauth2/token`, { method: 'POST', body: form });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`no token: ${response.status}`);
  return token;
}

/** Requests `/healthz` and the token endpoint repeatedly until it is stopped. */
function watchAnswers(service: MeteredService, tenant: ProbedTenant) {
  const stopped = new AbortController();
  const failures: string[] = [];
  let answers = 0;
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const health = await fetch(`${service.url}/healthz`);
      if (health.status !== 200) failures.push(`/healthz: ${health.status}`);
      await health.text();
      await issueToken(service, tenant).catch((error: unknown) => failures.push(String(error)));
      answers += 2;
      if (!stopped.signal.aborted) await once(AbortSignal.any([stopped.signal, AbortSignal.timeout(100)]), 'abort');
    }
  };
  const watching = watch();
  return {
    async stop() {
      stopped.abort();
      await watching;
      return { answers, failures };
    },
  };
}
