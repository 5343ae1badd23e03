import { expect, test } from 'vitest';
import type { Account } from './account.ts';
import { recordChecks } from './record-checks.ts';

const record = {
  id: 'c3Vic2NyaXB0aW9uLTAwMDE=',
  status: 'ACTIVE',
  activationDate: '2024-05-01T00:00:00Z',
  expirationDate: '2024-06-01T23:59:59Z',
  createdDate: '2024-04-30T12:00:00Z',
  product: { id: 'p', name: 'Europe', period: 30, period_unit: 'DAYS', plan_id: 'plan' },
  iccid: '8944500102198304826',
  device_id: 'device-1',
  auto_renew: 'true',
};

/** The checks of members that fail for an account with one record. */
async function failures(altered: object): Promise<string[]> {
  const account = { known: async () => [altered] } as unknown as Account;
  const members = recordChecks.filter(({ id }) => id.startsWith('record-'));
  const found = await Promise.all(members.map(async ({ id, run }) => [id, (await run(account)).result]));
  return found.flatMap(([id = '', result]) => (result === 'failed' ? [id] : []));
}

/** Values that a member must not have: each breaks its rule in one place. */
const wrong: Readonly<Record<string, readonly unknown[]>> = {
  id: ['', 'a b', ' a', 'a+', 'a/b', '=a', 'a===', 1, null, undefined],
  iccid: ['', 'x8944500102198304826', '8944500102198304826x', '8944 5001', '-8944', 8_944, null, undefined],
  createdDate: [
    ...['2024-05-01', '2024-05-01T00:00:00', '2024-05-01T00:00:00+00:00', '2024-05-01T00:00:00.000Z'],
    ...['2024-05-01 00:00:00Z', ' 2024-05-01T00:00:00Z', '2024-05-01T00:00:00Z ', '2024-02-30T00:00:00Z'],
    ...['2024-05-01T24:00:00Z', 1_714_521_600, null, undefined],
  ],
  auto_renew: ['yes', 'untrue', 'truely', 'true ', '', true, 1, null, undefined],
};

test('a record that meets the rules fails no check', async () => {
  expect(await failures(record)).toEqual([]);
  expect(await failures({ ...record, auto_renew: 'False', id: 'a_-9==' })).toEqual([]);
});

test.each(Object.entries(wrong).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  'the %s %j fails its check, and no other',
  async (name, value) => {
    const found = await failures({ ...record, [name]: value });
    expect(found).toEqual([expect.stringMatching(new RegExp(`^record-${name.replace(/_|(?=D)/, '.?')}$`, 'i'))]);
  },
);

test.each(['30', 1.5, Number.NaN, null, true])('the period %j fails its check, and no other', async (period) => {
  expect(await failures({ ...record, product: { ...record.product, period } })).toEqual([
    expect.stringMatching(/period$/),
  ]);
});
