import { expect, test } from 'vitest';
import type { TenantId } from '../store.ts';
import { TenantLanes } from './tenant-lanes.ts';

const [a, b, c, d] = ['a', 'b', 'c', 'd'] as unknown as readonly [TenantId, TenantId, TenantId, TenantId];
const later = (): number => performance.now() + 60_000;
const now = (): number => performance.now();
const refused = { name: 'StorageError', code: 'UNAVAILABLE' };

test('one tenant uses at most three quarters of the connections, and its waiting work gets those given back', async () => {
  const lanes = new TenantLanes(8);
  const leave = await Promise.all(Array.from({ length: 6 }, () => lanes.enter(a, later())));
  await expect(lanes.enter(a, now())).rejects.toMatchObject(refused);
  await lanes.enter(b, now());
  const waiting = lanes.enter(a, later());
  leave[0]?.(false);
  (await waiting)(false);
});

test('a tenant whose work hung gets one connection until its work finishes in time', async () => {
  const lanes = new TenantLanes(8);
  (await lanes.enter(a, now()))(true);
  const leave = await lanes.enter(a, now());
  await expect(lanes.enter(a, now())).rejects.toMatchObject(refused);
  leave(false);
  await Promise.all([lanes.enter(a, now()), lanes.enter(a, now())]);
});

test('all tenants whose work hung share a quarter of the connections', async () => {
  const lanes = new TenantLanes(8);
  for (const tenant of [a, b, c]) (await lanes.enter(tenant, now()))(true);
  const [leave] = [await lanes.enter(a, now()), await lanes.enter(b, now())];
  await expect(lanes.enter(c, now())).rejects.toMatchObject(refused);
  await lanes.enter(d, now());
  const waiting = lanes.enter(c, later());
  leave(true);
  await waiting;
});

test('every tenant may use a pool of one connection', async () => {
  const lanes = new TenantLanes(1);
  (await lanes.enter(a, now()))(true);
  (await lanes.enter(b, now()))(false);
  await lanes.enter(a, now());
});
