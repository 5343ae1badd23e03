import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { ChangesSummary } from '../../../contract/changes-summary.ts';
import { SubscriptionSummary } from '../../../contract/summary.ts';

const list = '/v1/subscription';
/** Four records an hour, around the day of 23 hours in Berlin. */
const rows = Array.from({ length: 400 }, (_, index) =>
  subscriptionRow({
    id: `id-${String(index).padStart(3, '0')}`,
    createdDate: Date.parse('2024-03-29T20:00:00Z') / 1000 + index * 900,
  }),
);

describe.each(engines)('the parameter zone on $engine', ({ openTestStore }) => {
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
      const { errors } = await expectProblem(await get(`${path}?zone=europe/berlin${since}`), 'INVALID_REQUEST_PARAMS');
      expect(errors).toEqual([
        {
          parameter: 'zone',
          value: 'europe/berlin',
          rule: "the name of an IANA time zone, such as Europe/Berlin; did you mean 'Europe/Berlin'?",
        },
      ]);
    }
    const { errors } = await expectProblem(await get('?after=2024-05-01'), 'INVALID_HTTP_MESSAGE');
    expect(errors[0]?.rule).toContain('with Z or an offset');
    // local time is a year later or earlier than what a date may have
    for (const query of ['before=9999-12-31T23:59:59&zone=America/New_York', 'after=0001-01-01&zone=Asia/Tokyo'])
      await expectProblem(await get(`?${query}`), 'INVALID_HTTP_MESSAGE');
  });
});
