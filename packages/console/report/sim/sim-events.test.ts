import { expect, test } from 'vitest';
import type { Subscription } from '../../../client/index.ts';
import { simEvents, spansOf } from './sim-events.ts';

const subscription = (id: string, month: number): Subscription => ({
  id,
  status: 'ACTIVE',
  createdDate: `2026-0${month}-01T00:00:00Z`,
  activationDate: `2026-0${month}-02T00:00:00Z`,
  expirationDate: `2026-0${month + 1}-01T00:00:00Z`,
  product: { id: 'p', name: 'Europe 5 GB', period: 30, period_unit: 'DAYS', plan_id: 'plan' },
  iccid: '8944500102198304826',
  device_id: 'd',
  auto_renew: 'false',
});
const [older, newer] = [subscription('older', 1), subscription('newer', 3)];
const now = new Date('2026-03-15T00:00:00Z');

test('the dates and the changes of all subscriptions are on one line, the latest first', () => {
  const history = {
    id: 'older',
    has_more: false,
    versions: [
      { revision: 2, committed_at: '2026-01-20T00:00:00Z', record: { ...older, status: 'DEPLETED' } },
      { revision: 1, committed_at: '2026-01-01T02:00:00Z', record: older },
    ],
  };
  const events = simEvents([newer, older], [history], now);
  expect(events.map(({ record, date, step }) => `${record.id} ${date ?? step?.kind}`)).toEqual([
    'newer ends',
    'newer activated',
    'newer created',
    'older ended',
    'older changed',
    'older activated',
    'older created',
  ]);
  expect(new Set(events.map(({ key }) => key)).size).toBe(events.length);
});

test('the spans fill the scale, and the present is on it only between the first and the last day', () => {
  const { spans, now: present } = spansOf([newer, older], now);
  expect(spans[1]?.start).toBe(0);
  expect((spans[0]?.start ?? 0) + (spans[0]?.length ?? 0)).toBe(1);
  expect(present).toBeGreaterThan(spans[0]?.start ?? 1);
  expect(spansOf([older], now).now).toBeUndefined();
  const same = { ...older, expirationDate: older.activationDate };
  expect(spansOf([same], new Date(same.activationDate))).toEqual({ spans: [{ start: 0, length: 0 }], now: 0 });
});
