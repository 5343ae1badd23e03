import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded } from '../../../../bench/any/draw.ts';
import { syntheticRecords, until } from '../../../../bench/support/data-set.ts';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { instantMs, localDate } from '../../../../test/support/zoned.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { exportSubscriptions } from '../../report/export-subscriptions.ts';
import { getSubscriptionSummary } from '../../report/get-subscription-summary.ts';
import { listSubscriptions } from '../../report/list-subscriptions.ts';
import { parseSearch } from '../../report/parse-search.ts';
import { parseSummary } from '../../report/parse-summary.ts';
import type { TenantId } from '../../storage/store.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

// Random questions that have all parameters together, byte for byte against a model: fields, lists
// of ids, zones and local dates, former revisions, orders and formats.
// QUESTIONS=3000 npx vitest run --project engines --test-timeout=0 \
//   packages/service/test/report/questions.test.ts

const questions = Number(process.env.QUESTIONS ?? 150);
const size = 2_000;
const first = [...syntheticRecords(size, 5)];

type Json = Readonly<Record<string, unknown>>;

/** Every third record has changed, every seventh is gone. */
const second = first
  .filter((_, index) => index % 7 !== 3)
  .map((row, index): SubscriptionRow => {
    if (index % 3 !== 0) return row;
    const expirationDate = row.expirationDate + 40 * 86_400 + 1_800;
    // with the status at its place, also of a record that had none
    const changed = {
      ...{ id: row.id, status: 'SUSPENDED' },
      ...(JSON.parse(row.record) as Json),
      status: 'SUSPENDED',
      expirationDate: `${new Date(expirationDate * 1000).toISOString().slice(0, 19)}Z`,
    };
    return { ...row, status: 'SUSPENDED', expirationDate, record: JSON.stringify(changed) };
  });

const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Havana'];
const dateNames = { created: 'createdDate', activation: 'activationDate', expiration: 'expirationDate' } as const;
const columns = ['id', 'status', 'activationDate', 'expirationDate', 'createdDate', 'product.id', 'product.name'];
const allColumns = [...columns, 'product.period', 'product.period_unit', 'product.plan_id'].concat([
  ...['iccid', 'device_id', 'auto_renew'],
]);

interface Question {
  readonly id?: readonly string[];
  readonly iccid?: readonly string[];
  readonly 'device-id'?: readonly string[];
  readonly status?: string;
  readonly 'date-field'?: keyof typeof dateNames;
  readonly after?: string;
  readonly before?: string;
  readonly zone?: string;
  readonly sort: string;
  readonly fields?: string;
  readonly format: 'json' | 'csv' | 'ndjson';
}

function drawQuestion(random: () => number): Question {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const zone = random() < 0.8 ? pick(zones) : undefined;
  const listOf = (name: 'id' | 'iccid' | 'deviceId') =>
    Array.from({ length: pick([1, 30, 400]) }, () => (random() < 0.1 ? '899999999999999999' : pick(first)[name]));
  const at = (until - Math.floor(random() * 3 * 365) * 86_400) * 1000;
  const written = (ms: number) =>
    zone === undefined
      ? new Date(ms).toISOString()
      : `${localDate(ms, zone)}${pick(['', 'T00:00', 'T02:30', 'T01:15:30.5'])}`;
  const isBounded = random() < 0.6;
  const asked = allColumns.filter(() => random() < 0.3).sort(() => random() - 0.5);
  return {
    ...(random() < 0.2 && { id: listOf('id') }),
    ...(random() < 0.2 && { iccid: listOf('iccid') }),
    ...(random() < 0.1 && { 'device-id': listOf('deviceId') }),
    ...(random() < 0.3 && { status: pick(['ACTIVE', 'SUSPENDED,EXPIRED', 'DEPLETED']) }),
    ...(random() < 0.5 && { 'date-field': pick(['created', 'activation', 'expiration'] as const) }),
    ...(isBounded && { after: written(at), before: written(at + pick([2, 40, 300]) * 86_400_000) }),
    ...(zone !== undefined && { zone }),
    sort: `${pick(['', '-'])}${pick(Object.values(dateNames))}`,
    ...(asked.length > 0 && random() < 0.7 && { fields: asked.join(',') }),
    format: pick(['json', 'csv', 'ndjson'] as const),
  };
}

/** The rows of a question in its order. */
function rowsOf(rows: readonly SubscriptionRow[], question: Question): SubscriptionRow[] {
  const { zone, sort, status, after, before } = question;
  const field = dateNames[question['date-field'] ?? 'created'];
  const date = sort.replace('-', '') as 'createdDate';
  const isIn = (list: readonly string[] | undefined, value: string) => list?.includes(value) ?? true;
  return rows
    .filter((row) => isIn(question.id, row.id) && isIn(question.iccid, row.iccid))
    .filter((row) => isIn(question['device-id'], row.deviceId) && isIn(status?.split(','), row.status ?? 'none'))
    .filter((row) => after === undefined || row[field] * 1000 > Math.floor(instantMs(after, zone) / 1000) * 1000)
    .filter((row) => before === undefined || row[field] * 1000 < instantMs(before, zone))
    .sort((a, b) => (a[date] - b[date] || (a.id < b.id ? -1 : 1)) * (sort.startsWith('-') ? -1 : 1));
}

function selected(record: Json, fields: readonly string[]): Json {
  const members = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    if (fields.includes(name)) return [[name, value]];
    if (name !== 'product' || !fields.some((each) => each.startsWith('product.'))) return [];
    const parts = Object.entries(value as Json).filter(([part]) => fields.includes(`product.${part}`));
    return [[name, Object.fromEntries(parts)]];
  });
  return Object.fromEntries(members);
}

function cellOf(record: Json, name: string): string {
  const product = record.product as Json;
  const value = name.startsWith('product.') ? product[name.slice('product.'.length)] : record[name];
  const text = value === undefined ? '' : String(value);
  const guarded = /^'*[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",;]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** The bytes of some records. */
function written(rows: readonly SubscriptionRow[], { format, fields }: Question): string {
  const records = rows.map(({ record }) => JSON.parse(record) as Json);
  const names = fields?.split(',');
  if (format === 'csv') {
    const header = names ?? allColumns;
    const lines = records.map((record) => header.map((name) => cellOf(record, name)).join(',') || '""');
    return [header.join(','), ...lines].map((line) => `${line}\r\n`).join('');
  }
  const texts = records.map((record) => JSON.stringify(names === undefined ? record : selected(record, names)));
  return format === 'json' ? `[${texts.join(',')}]` : texts.map((text) => `${text}\n`).join('');
}

/** The positions of the listed values that no row has, such as `iccid=2,5-7`. */
function missingOf(rows: readonly SubscriptionRow[], question: Question): string | undefined {
  const lists = (
    [
      ['id', 'id'],
      ['iccid', 'iccid'],
      ['device-id', 'deviceId'],
    ] as const
  ).flatMap(([name, column]) => {
    const list = question[name];
    if (list === undefined) return [];
    const known = new Set(rows.map((row) => row[column]));
    const positions = list.flatMap((value, at) => (known.has(value) || list.indexOf(value) < at ? [] : [at]));
    const ranges: number[][] = [];
    for (const at of positions) {
      const range = ranges.at(-1);
      if (range?.at(-1) === at - 1) range.push(at);
      else ranges.push([at]);
    }
    return [`${name}=${ranges.map((range) => [...new Set([range[0], range.at(-1)])].join('-')).join()}`];
  });
  return lists.length === 0 ? undefined : lists.join('&');
}

describe.each(drawOne(engines, import.meta.url))('questions with all parameters on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let tenant: TenantId;
  let firstRevision = 0;
  beforeAll(async () => {
    opened = await openTestStore();
    tenant = await addTenant(opened.store, 'questions');
    await opened.store.loadSubscriptions(tenant, first);
    firstRevision = (await findTenant(opened.store, 'questions'))?.revision ?? 0;
    const replacement = await opened.store.openStagedLoad(tenant, '01890a5d-ac96-774b-bcce-b302099a8057');
    await replacement.add(second);
    await replacement.finish(false);
    await replacement.close();
  });
  afterAll(() => opened.close());

  test('have the bytes, totals, counts and missing values of the model', async () => {
    const { store } = opened;
    const context = {
      limits: defaultPageLimits,
      now: () => until,
      store,
      reportUrl: 'http://localhost/v1/subscription',
    };
    const random = seeded(Number(process.env.SEED ?? 7));
    for (let asked = 0; asked < questions; asked += 1) {
      const question = drawQuestion(random);
      const isPast = random() < 0.4;
      const rows = isPast ? first : second;
      const past = isPast ? { 'as-of': String(firstRevision) } : {};
      const found = rowsOf(rows, question);
      const what = JSON.stringify([question, past]);
      if (random() < 0.3) {
        const {
          fields: _fields,
          format: _format,
          sort: _sort,
          id: _id,
          iccid: _iccid,
          'device-id': _device,
          ...counted
        } = question;
        const query = new URLSearchParams({ ...counted, by: 'month,status', ...past });
        const summary = JSON.parse(
          (await getSubscriptionSummary(store, tenant, parseSummary(`${query}`, context))).body,
        );
        const of = rowsOf(rows, { ...counted, sort: 'createdDate', format: 'json' });
        const field = dateNames[question['date-field'] ?? 'created'];
        const months = Map.groupBy(of, (row) => localDate(row[field] * 1000, question.zone).slice(0, 7));
        const expected = [...months].sort(([a], [b]) => (a < b ? -1 : 1));
        expect([what, summary.total, summary.by.month]).toEqual([
          what,
          of.length,
          expected.map(([value, { length: count }]) => ({ value, count })),
        ]);
        continue;
      }
      const isWhole = isPast || (question.format !== 'json' && random() < 0.4);
      const format = isWhole && question.format === 'json' ? 'ndjson' : question.format;
      const page = { size: 1 + Math.floor(random() * 300), page: 1 + Math.floor(random() * 3) };
      const body = Buffer.from(JSON.stringify({ ...question, format, ...(isWhole ? { all: true, ...past } : page) }));
      const query = parseSearch(body, context, 'json');
      const shown = isWhole ? found : found.slice((page.page - 1) * page.size, page.page * page.size);
      const { headers, bytes } = isWhole ? await wholeOf(query) : await pageOf(query);
      expect([what, headers['x-total-count'], headers['x-not-found'], bytes]).toEqual([
        what,
        String(found.length),
        missingOf(rows, question),
        written(shown, { ...question, format }),
      ]);
    }

    async function pageOf(query: ReturnType<typeof parseSearch>) {
      const { headers, body } = await listSubscriptions(context, tenant, query);
      return { headers, bytes: body.toString() };
    }

    async function wholeOf(query: ReturnType<typeof parseSearch>) {
      const report = await exportSubscriptions(context, tenant, query, 10_000);
      let bytes = '';
      for await (const piece of report.pieces) bytes += piece.bytes.toString();
      await report.close();
      return { headers: report.headers, bytes };
    }
  });
});
