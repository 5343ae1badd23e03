import { createHash } from 'node:crypto';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { ChangesSummary } from '../../../contract/changes-summary.ts';
import type { ExportSummary } from '../../../contract/report.ts';
import { SubscriptionSummary } from '../../../contract/summary.ts';

const list = '/v1/subscription';
/** Four records an hour, around the day of 23 hours in Berlin. */
const rows = Array.from({ length: 400 }, (_, index) =>
  subscriptionRow({
    id: `id-${String(index).padStart(3, '0')}`,
    createdDate: Date.parse('2024-03-29T20:00:00Z') / 1000 + index * 900,
  }),
);

describe.each(drawOne(engines, import.meta.url))('the parameter zone on $engine', ({ openTestStore }) => {
  let service: TestService;
  let token: string;
  const get = (query: string, headers: Record<string, string> = {}) =>
    service.get(`${list}${query}`, token, { 'accept-encoding': 'identity', ...headers });
  const search = (body: object) =>
    fetch(`${service.baseUrl}${list}/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const idsOf = async (response: Response) => ((await response.json()) as { id: string }[]).map(({ id }) => id);

  beforeAll(async () => {
    service = await startService(await openTestStore());
    const acme = await service.createTenant('acme');
    token = await service.accessToken(await service.createClient(acme));
    await service.store.loadSubscriptions(acme, rows);
  });
  afterAll(() => service.close());

  test('a date without an offset is the start of its local day, in a URL, in a body and in links', async () => {
    const expected = await idsOf(
      await get('?created-from=2024-03-30T23:00:00Z&created-to=2024-03-31T22:00:00Z&size=200'),
    );
    expect(expected).toHaveLength(23 * 4);
    const local = { 'created-from': '2024-03-31', 'created-to': '2024-04-01', zone: 'Europe/Berlin' };
    const query = new URLSearchParams(local);
    const response = await get(`?${query}&size=50`);
    expect(decodeURIComponent(response.headers.get('x-applied-filters') ?? '')).toBe(
      'date-field=created&created-from=2024-03-30T23:00:00Z&created-to=2024-03-31T22:00:00Z&zone=Europe/Berlin&sort=createdDate',
    );
    const next = new URL(response.headers.get('x-next-page') ?? '');
    const following = await get(next.search);
    expect([...(await idsOf(response)), ...(await idsOf(following))]).toEqual(expected);
    expect(await idsOf(await search({ ...local, size: 200 }))).toEqual(expected);
    const exported = await get(`?${query}&all=true&format=ndjson`);
    expect((await exported.text()).trim().split('\n')).toHaveLength(expected.length + 1);
  });

  test('summaries of zones have other days, and none is taken for that of another zone', async () => {
    const query = '?by=day&created-from=2024-03-30T00:00:00Z&created-to=2024-04-02T00:00:00Z';
    const asked = ['', '&zone=UTC', '&zone=Europe/Berlin', '&zone=Australia/Lord_Howe'];
    const tags = new Set<string | null>();
    const answers: SubscriptionSummary[] = [];
    for (const zone of [...asked, ...asked]) {
      const response = await get(`/summary${query}${zone}`);
      tags.add(response.headers.get('etag'));
      const summary = (await response.json()) as SubscriptionSummary;
      expect(Check(SubscriptionSummary, summary)).toBe(true);
      answers.push(summary);
    }
    expect(tags.size).toBe(asked.length);
    expect(answers.slice(asked.length)).toEqual(answers.slice(0, asked.length));
    const [plain, utc, berlin, lordHowe] = answers;
    expect(plain).not.toHaveProperty('zone');
    expect(utc).toEqual({ ...plain, zone: 'UTC' });
    expect(berlin?.by.day?.find(({ value }) => value === '2024-03-31')).toEqual({ value: '2024-03-31', count: 23 * 4 });
    expect([berlin?.zone, lordHowe?.zone]).toEqual(['Europe/Berlin', 'Australia/Lord_Howe']);
    expect(lordHowe?.by.day?.[0]).toEqual({ value: '2024-03-30', count: 13 * 4 });
  });

  test('the past and changes have local days', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const response = await get(`/changes/summary?since=${today}&zone=Pacific/Kiritimati`);
    // before the history began, or in it, by the time of day
    if (response.status !== 200) await expectProblem(response, 'HISTORY_NOT_KEPT');
    const token = ((await (await get('/changes?since=now')).json()) as { next: string }).next;
    const summary = (await (await get(`/changes/summary?since=${token}&zone=Asia/Tokyo`)).json()) as ChangesSummary;
    expect([Check(ChangesSummary, summary), summary.zone]).toEqual([true, 'Asia/Tokyo']);
    for (const path of ['/id-000?as-of=1970-01-02', '/summary?as-of=1970-01-02', '/changes?since=1970-01-02'])
      await expectProblem(await get(`${path}&zone=Asia/Tokyo`), 'HISTORY_NOT_KEPT');
  });

  test('an unknown zone is refused with a suggestion, and a date without an offset without a zone', async () => {
    for (const path of ['', '/summary', '/changes', '/changes/summary', '/id-000']) {
      const since = path === '/changes/summary' ? '&since=2024-01-01' : '';
      const { errors } = await expectProblem(await get(`${path}?zone=Europe/Berln${since}`), 'INVALID_REQUEST_PARAMS');
      expect(errors).toEqual([
        {
          parameter: 'zone',
          value: 'Europe/Berln',
          rule: "the name of an IANA time zone, such as Europe/Berlin; did you mean 'Europe/Berlin'?",
        },
      ]);
    }
    const { errors } = await expectProblem(await get('?after=2024-05-01'), 'INVALID_HTTP_MESSAGE');
    expect(errors[0]?.rule).toContain('with Z, UTC or an offset');
    // local time is a year later or earlier than what a date may have
    for (const query of ['before=9999-12-31T23:59:59&zone=America/New_York', 'after=0001-01-01&zone=Asia/Tokyo'])
      await expectProblem(await get(`?${query}`), 'INVALID_HTTP_MESSAGE');
  });

  describe('of the dates in CSV', () => {
    const local = { zone: 'Europe/Berlin', format: 'csv', dates: 'local' };
    const queryOf = (more: object = {}) => `?${new URLSearchParams({ ...local, ...more })}`;
    const ofPage = { 'created-from': '2024-03-31', size: '20' };
    const linesOf = async (response: Response) => (await response.text()).trimEnd().split('\r\n');
    const columnOf = async (response: Response, name: string) => {
      const [header = '', ...lines] = await linesOf(response);
      return lines.map((line) => line.split(',')[header.split(',').indexOf(name)] ?? '');
    };

    test('a page, its next page, a search and a whole report have the same local dates, all others as in UTC', async () => {
      const plain = await get('?format=csv&size=1000');
      const utc = await columnOf(plain, 'createdDate');
      const dates = await columnOf(await get(queryOf({ size: '1000' })), 'createdDate');
      expect(dates.map((each) => Date.parse(each))).toEqual(utc.map((each) => Date.parse(each)));
      expect(dates.filter((each) => each.endsWith('+01:00')).length).toBe(29 * 4);
      expect(dates[29 * 4]).toBe('2024-03-31T03:00:00+02:00');
      const whole = await columnOf(await get(queryOf({ all: 'true' })), 'createdDate');
      expect(whole).toEqual(dates);
      const first = await get(queryOf(ofPage));
      const next = await get(new URL(first.headers.get('x-next-page') ?? '').search);
      const found = [...(await columnOf(first, 'createdDate')), ...(await columnOf(next, 'createdDate'))];
      expect(found).toEqual(dates.slice(27 * 4, 27 * 4 + 40));
      const searched = await search({ ...local, ...ofPage, size: 20 });
      const beyond = await search({ ...local, ...ofPage, size: 20, cursor: searched.headers.get('x-next-cursor') });
      expect([...(await columnOf(searched, 'createdDate')), ...(await columnOf(beyond, 'createdDate'))]).toEqual(found);
      const revision = String((await get('?all=true&format=csv')).headers.get('x-revision'));
      const past = await get(queryOf({ all: 'true', 'as-of': revision }));
      expect(await columnOf(past, 'createdDate')).toEqual(dates);
    });

    test('fields have their order, and the SHA-256 of an export is that of its bytes', async () => {
      const response = await get(queryOf({ fields: 'createdDate,id,expirationDate', all: 'true' }), {
        prefer: 'export-summary',
      });
      const text = await response.text();
      const end = text.lastIndexOf('{"summary"');
      expect(text.slice(0, text.indexOf('\r\n'))).toBe('createdDate,id,expirationDate');
      const { summary } = JSON.parse(text.slice(end)) as { summary: ExportSummary };
      const sha256 = createHash('sha256').update(text.slice(0, end)).digest('hex');
      expect(summary).toEqual({ rows: rows.length, sha256 });
      for (const line of text.slice(0, end).trimEnd().split('\r\n').slice(1))
        expect(line).toMatch(/^2024-\d\d-\d\dT[\d:]{8}\+0[12]:00,id-\d{3},\d{4}-\d\d-\d\dT[\d:]{8}\+0[12]:00$/);
    });

    test('an Accept header asks for CSV as well, a HEAD request has the headers, and UTC is a zone', async () => {
      const accepted = await get('?size=1&dates=local&zone=UTC', { accept: 'text/csv' });
      expect(await columnOf(accepted, 'createdDate')).toEqual(['2024-03-29T20:00:00+00:00']);
      const head = await fetch(`${service.baseUrl}${list}${queryOf({ size: '1' })}`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
      });
      expect(head.headers.get('etag')).toBe((await get(queryOf({ size: '1' }))).headers.get('etag'));
    });

    test('a search in UTC and one with local dates have no response in common', async () => {
      const asked = { zone: 'Europe/Berlin', format: 'csv', size: 5 };
      for (let time = 0; time < 2; time += 1) {
        const [utc, berlin] = [await search(asked), await search({ ...asked, dates: 'local' })];
        expect(utc.headers.get('etag')).not.toBe(berlin.headers.get('etag'));
        expect((await columnOf(utc, 'createdDate'))[0]).toBe('2024-03-29T20:00:00Z');
        expect((await columnOf(berlin, 'createdDate'))[0]).toBe('2024-03-29T21:00:00+01:00');
      }
    });

    test('dates=utc is the default in every format', async () => {
      for (const format of ['csv', 'json', 'ndjson'])
        expect(await (await get(`?size=5&zone=Asia/Tokyo&format=${format}&dates=utc`)).text()).toBe(
          await (await get(`?size=5&format=${format}`)).text(),
        );
    });

    test('another tenant has its own records with local dates, also for the same request again', async () => {
      const other = await service.createTenant('other');
      const ofOther = await service.accessToken(await service.createClient(other));
      await service.store.loadSubscriptions(other, [subscriptionRow({ id: 'own', createdDate: 1_720_000_000 })]);
      for (let time = 0; time < 2; time += 1) {
        expect(await columnOf(await get(queryOf({ size: '3' })), 'id')).toEqual(['id-000', 'id-001', 'id-002']);
        const response = await service.get(`${list}${queryOf({ size: '3' })}`, ofOther);
        const [, ...lines] = await linesOf(response);
        expect(lines.map((line) => line.split(',')[0])).toEqual(['own']);
      }
    });

    const withZone = { zone: 'Europe/Berlin' };
    const noZone = "used with 'zone', such as zone=Europe/Berlin";
    const notCsv = "used with 'format=csv': other formats have dates in UTC";
    test.each([
      [{ format: 'csv' }, [noZone]],
      [{ format: 'csv', all: 'true' }, [noZone]],
      [{}, [noZone, notCsv]],
      [withZone, [notCsv]],
      [{ ...withZone, format: 'json' }, [notCsv]],
      [{ ...withZone, format: 'ndjson' }, [notCsv]],
      [{ ...withZone, format: 'ndjson', all: 'true' }, [notCsv]],
      [{ ...withZone, format: 'parquet', all: 'true' }, [notCsv]],
    ])('with %j, dates=local is refused in a URL and in a body', async (given, rules) => {
      const faults = rules.map((rule) => ({ parameter: 'dates', value: 'local', rule }));
      const asked = { ...given, dates: 'local' };
      for (const response of [await get(`?${new URLSearchParams(asked)}`), await search(asked)])
        expect((await expectProblem(response, 'INVALID_REQUEST_PARAMS')).errors).toEqual(faults);
    });

    test.each(['/summary', '/changes', '/findings', '/id-000'])('%s has no parameter dates', async (path) => {
      const { errors } = await expectProblem(await get(`${path}?dates=utc`), 'INVALID_REQUEST_PARAMS');
      expect(errors).toMatchObject([{ parameter: 'dates' }]);
    });
  });
});
