import { expect, test } from 'vitest';
import type { AuditEvent } from './audit-event.ts';
import { createAuditTally } from './audit-tally.ts';

function tallyOf(record: (events: readonly AuditEvent[]) => Promise<void>) {
  const failures: unknown[] = [];
  const tally = createAuditTally({ log: { record }, now: () => 60, onFailure: (error) => failures.push(error) });
  return { ...tally, failures };
}

const refusal = (clientId: string, address = '192.0.2.1'): AuditEvent => ({
  actor: { kind: 'anonymous', id: null, name: null },
  address,
  action: 'token.request',
  tenant: null,
  clientId,
  outcome: 'refused',
  error: 'invalid_client',
  correlationId: null,
  details: {},
});

test('equal events become one entry with their number', async () => {
  const recorded: AuditEvent[] = [];
  const tally = tallyOf(async (events) => void recorded.push(...events));
  for (let n = 0; n < 5; n += 1) tally.add(refusal('acme'));
  tally.add(refusal('acme', '192.0.2.2'));
  await tally.close();
  expect(recorded).toEqual([
    { ...refusal('acme'), details: { count: 5, since: '1970-01-01T00:01:00Z' } },
    { ...refusal('acme', '192.0.2.2'), details: { count: 1, since: '1970-01-01T00:01:00Z' } },
  ]);
});

test('a flood of client ids and addresses makes 31 entries, which count every event', async () => {
  const recorded: AuditEvent[] = [];
  const tally = tallyOf(async (events) => void recorded.push(...events));
  for (let n = 0; n < 10_000; n += 1) tally.add(refusal(`client-${n}`, `192.0.2.${n % 256}`));
  await tally.close();
  expect(recorded).toHaveLength(31);
  expect(recorded.reduce((sum, { details }) => sum + Number(details.count), 0)).toBe(10_000);
  expect(recorded.at(-1)).toMatchObject({ clientId: null, address: null, details: { others: true, count: 9_970 } });
});

test('what authenticated callers do is recorded with caller, address and family during an anonymous flood', async () => {
  const recorded: AuditEvent[] = [];
  const tally = tallyOf(async (events) => void recorded.push(...events));
  for (let n = 0; n < 1_000; n += 1) tally.add(refusal(`client-${n}`, `192.0.2.${n % 256}`));
  const known = (id: string): AuditEvent => ({
    ...refusal(id),
    actor: { kind: 'client', id, name: null },
    tenant: 'acme',
  });
  const reuse: AuditEvent = {
    ...known('acme-1'),
    action: 'token.reuse',
    error: 'invalid_grant',
    details: { family: 'f1' },
  };
  const others: AuditEvent[] = [
    reuse,
    { ...reuse, details: { family: 'f2' } },
    { ...known('acme-1'), error: 'invalid_scope' },
    { ...known('acme-2'), action: 'console.sign-in', outcome: 'ok', error: null },
    {
      ...refusal('x'),
      actor: { kind: 'operator', id: 'op-1', name: 'night' },
      action: 'operator.sign-in',
      clientId: null,
    },
    // anonymous, but of another action
    { ...refusal('acme-2'), action: 'console.sign-in' },
  ];
  for (const event of others) tally.add(event);
  await tally.close();
  for (const event of others)
    expect(recorded).toContainEqual({
      ...event,
      details: { ...event.details, count: 1, since: '1970-01-01T00:01:00Z' },
    });
});

test('a caller with too many events keeps its name, and takes no place of another', async () => {
  const recorded: AuditEvent[] = [];
  const tally = tallyOf(async (events) => void recorded.push(...events));
  const known = (id: string, address: string): AuditEvent => ({
    ...refusal(id, address),
    actor: { kind: 'client', id, name: null },
    tenant: 'acme',
  });
  for (let n = 0; n < 1_000; n += 1) tally.add(known('acme-1', `192.0.${n >> 8}.${n % 256}`));
  tally.add(known('acme-2', '192.0.2.1'));
  await tally.close();
  expect(recorded).toHaveLength(32);
  const [rest, other] = [
    recorded.filter(({ address }) => address === null),
    recorded.filter(({ clientId }) => clientId === 'acme-2'),
  ];
  expect(rest).toMatchObject([
    {
      actor: { kind: 'client', id: 'acme-1' },
      tenant: 'acme',
      clientId: 'acme-1',
      details: { others: true, count: 970 },
    },
  ]);
  expect(other).toMatchObject([{ address: '192.0.2.1', details: { count: 1 } }]);
});

test('many callers are recorded in several transactions', async () => {
  const recorded: number[] = [];
  const tally = tallyOf(async (events) => void recorded.push(events.length));
  for (let n = 0; n < 1_200; n += 1)
    tally.add({ ...refusal(`c-${n}`), actor: { kind: 'client', id: `c-${n}`, name: null } });
  await tally.close();
  expect(recorded).toEqual([500, 500, 200]);
});

test('each flush records only what came since the last one', async () => {
  const recorded: number[] = [];
  const tally = tallyOf(async (events) => void recorded.push(events.length));
  tally.add(refusal('acme'));
  await tally.flush();
  await tally.flush();
  await tally.close();
  expect(recorded).toEqual([1]);
});

test('after a flush, a caller whose events were counted together has places of their own again', async () => {
  const recorded: AuditEvent[] = [];
  const tally = tallyOf(async (events) => void recorded.push(...events));
  for (let n = 0; n < 100; n += 1) tally.add(refusal('acme', `192.0.2.${n}`));
  await tally.flush();
  recorded.length = 0;
  tally.add(refusal('acme', '192.0.2.200'));
  await tally.close();
  expect(recorded).toMatchObject([{ clientId: 'acme', address: '192.0.2.200', details: { count: 1 } }]);
});

test('a store that fails is reported, and the events are not kept', async () => {
  const tally = tallyOf(() => Promise.reject(new Error('disk full')));
  tally.add(refusal('acme'));
  await tally.close();
  await tally.flush();
  expect(tally.failures).toEqual([new Error('disk full')]);
});
