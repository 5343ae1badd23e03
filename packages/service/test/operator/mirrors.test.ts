import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import type { MirrorCounts } from '../../../cli/mirror/target.ts';
import { TenantTarget } from '../../../cli/mirror/tenant.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';

const drawn = drawOne(engines, import.meta.url);

const id = '0b6f2f53-6d7a-4b60-9c0e-5d2c2f0c8f11';
const mirror = { id, origin: 'https://connect.example.com/connect-api reader' };
const records = [...syntheticRows({ count: 1_200, seed: 5, until: 1_767_225_600 })].map((row) => ({ ...row }));
const ages = { newAsOf: '2026-11-01T00:00:00Z', changesAsOf: null };

describe.each(drawn)('the mirror of a tenant on $engine', ({ openTestStore }) => {
  let management: TestManagement;
  let token: string;
  const path = (tenant: string) => `/operator/v1/tenants/${tenant}`;
  const put = (tenant: string, body: object) =>
    management.send('PUT', `${path(tenant)}/mirror/changes`, { token, body });
  const show = async (tenant: string) => (await management.send('GET', path(tenant), { token })).body;

  /** A new tenant with a mirror, through the operator's API. */
  async function start(tenant: string): Promise<TenantTarget> {
    await management.send('POST', '/operator/v1/tenants', { token, body: { tenant } });
    const target = new TenantTarget(async (operation, { body, query } = {}) => {
      if (operation === 'listMirrorRecords') {
        const parameters = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
        const search = new URLSearchParams(parameters as [string, string][]).toString();
        return (await management.send('GET', `${path(tenant)}/mirror/records?${search}`, { token })).body;
      }
      const at = operation === 'beginMirror' ? 'mirror' : 'mirror/changes';
      const sent = await management.send('PUT', `${path(tenant)}/${at}`, { token, body: body as object });
      if (sent.status !== 200) throw new Error(JSON.stringify(sent.body));
      return sent.body;
    }, tenant);
    await target.begin(mirror);
    return target;
  }

  beforeAll(async () => {
    management = await startManagement(await openTestStore());
    token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
  });
  afterAll(() => management.close());

  test('has the records that it is given, without those that it is told to remove, and both ages', async () => {
    const target = await start('acme');
    const applied = await target.apply({ records, removed: [], ages, token: undefined });
    expect([applied.rejections.size, applied.digests.size]).toEqual([0, 1_200]);
    expect(await show('acme')).toMatchObject({
      records: 1_200,
      mirror: { origin: mirror.origin, new_as_of: ages.newAsOf, changes_as_of: null },
    });
    const [changed, ...gone] = records.slice(0, 40);
    const removed = [...gone.map((record) => record.id), 'c3ViMQ'];
    const body = { mirror_id: id, records: JSON.stringify({ ...changed, device_id: 'other' }), removed_ids: removed };
    const counts = { inserted: 0, updated: 1, unchanged: 0, removed: 39, rejected: [] };
    expect((await put('acme', body)).body).toMatchObject({ tenant: 'acme', ...counts });
    const { revision } = await show('acme');
    expect((await put('acme', body)).body).toMatchObject({ updated: 0, unchanged: 1, removed: 0 });
    expect(await show('acme')).toMatchObject({ records: 1_161, revision });
  });

  test('knows no counts before the mirror sends them, and then has those of its last request', async () => {
    const target = await start('counted');
    const told = async () => {
      const { rejected_records, held_back_removals, unconfirmed_removals } = (await show('counted')).mirror;
      return [rejected_records, held_back_removals, unconfirmed_removals];
    };
    const apply = (counts?: MirrorCounts) => target.apply({ records: [], removed: [], ages, counts, token: undefined });
    expect(await told()).toEqual([null, null, null]);
    await apply();
    expect(await told()).toEqual([null, null, null]);
    await apply({ rejected: 100, heldBack: 122, unconfirmed: 0 });
    await apply();
    expect(await told()).toEqual([100, 122, 0]);
    await apply({ rejected: 0, heldBack: null, unconfirmed: 3 });
    expect(await told()).toEqual([0, null, 3]);
    for (const name of ['held_back_removals', 'new_as_of', 'revision_token']) {
      const refused = await put('counted', { mirror_id: id, [name]: -1 });
      expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(name)]);
    }
  });

  test('tells its mirror whether the tenant is as the mirror left it, and lists digests', async () => {
    const target = await start('compared');
    const some = records.slice(0, 30);
    const first = await target.apply({ records: some, removed: [], ages, token: undefined });
    expect(first.isExpected).toBe(false);
    const listed = async () => {
      const found: [string, string][] = [];
      for await (const page of target.list())
        found.push(...page.map(({ id, digest }) => [id, digest] as [string, string]));
      return found;
    };
    expect(new Map(await listed())).toEqual(first.digests);
    const second = await target.apply({ records: [], removed: [], ages, token: first.token });
    expect(second.isExpected).toBe(true);
    const erased = { ids: [some[3]?.id] };
    await management.send('POST', `${path('compared')}/subscriptions/erase`, { token, body: erased });
    const third = await target.apply({ records: [], removed: [], ages, token: second.token });
    expect(third.isExpected).toBe(false);
    expect(await listed()).toHaveLength(29);
    expect((await target.apply({ records: [], removed: [], ages, token: third.token })).isExpected).toBe(true);
  });

  test('lists records that break a rule, and forgets them when the origin no longer has them', async () => {
    const target = await start('invalid');
    const [valid, other] = records;
    const invalid = { ...other, id: 'not an id', iccid: 'x' };
    const { rejections } = await target.apply({
      records: [valid as never, invalid as never],
      removed: [],
      ages,
      token: undefined,
    });
    expect([...rejections]).toEqual([['not an id', expect.stringMatching(/^id must be .+; iccid must be /)]]);
    await target.apply({ records: [], removed: ['not an id', valid?.id ?? ''], ages, token: undefined });
    expect(await show('invalid')).toMatchObject({ records: 0 });
  });

  test('removes a record once that an origin names twice', async () => {
    const target = await start('twice');
    await target.apply({ records: records.slice(0, 3), removed: [], ages, token: undefined });
    const removed = [records[1]?.id ?? '', records[0]?.id ?? '', records[1]?.id ?? ''];
    const { status, body } = await put('twice', { mirror_id: id, removed_ids: removed });
    expect([status, body.removed]).toEqual([200, 2]);
    expect(await show('twice')).toMatchObject({ records: 1 });
  });

  test('rejects a record with a member twice, which it names', async () => {
    await start('repeated');
    const [first] = records.map((record) => JSON.stringify(record));
    const { body } = await put('repeated', { mirror_id: id, records: `${first?.slice(0, -1)},"id":"other"}` });
    const reason = 'id must be given once, not repeatedly';
    expect(body).toMatchObject({ inserted: 0, rejected: [{ line: 1, reason }], digests: [null] });
  });

  test('belongs to one origin and state file, and refuses all others', async () => {
    await start('taken');
    const others = { mirror_id: id.replace('0', '1'), origin: mirror.origin };
    const begun = await management.send('PUT', `${path('taken')}/mirror`, { token, body: others });
    expect([begun.status, begun.body.detail]).toEqual([
      409,
      expect.stringContaining(`another mirror of ${mirror.origin}`),
    ]);
    expect((await put('taken', { mirror_id: others.mirror_id, records: JSON.stringify(records[0]) })).status).toBe(409);
    expect(await show('taken')).toMatchObject({ records: 0 });
    for (const [query, status, detail] of [
      ['', 400, "'mirror_id': it must be a UUID"],
      ['?mirror_id=x&limit=0', 400, "'limit': it must be"],
      [`?mirror_id=${others.mirror_id}`, 409, 'another mirror of'],
      [`?mirror_id=${id}`, 200, undefined],
    ] as const) {
      const listed = await management.send('GET', `${path('taken')}/mirror/records${query}`, { token });
      expect([listed.status, listed.body.detail ?? '']).toEqual([status, expect.stringContaining(detail ?? '')]);
    }
    const load = await management.send('PUT', `${path('taken')}/subscriptions`, {
      token,
      body: records[0] as object,
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect([load.status, load.body.detail]).toEqual([409, expect.stringContaining('it must not be a mirror')]);
    expect((await management.send('DELETE', `${path('taken')}/mirror`, { token })).body.mirror).toBeNull();
    expect((await put('taken', { mirror_id: id })).status).toBe(409);
  });
});
