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

test('each flush records only what came since the last one', async () => {
  const recorded: number[] = [];
  const tally = tallyOf(async (events) => void recorded.push(events.length));
  tally.add(refusal('acme'));
  await tally.flush();
  await tally.flush();
  await tally.close();
  expect(recorded).toEqual([1]);
});

test('a store that fails is reported, and the events are not kept', async () => {
  const tally = tallyOf(() => Promise.reject(new Error('disk full')));
  tally.add(refusal('acme'));
  await tally.close();
  await tally.flush();
  expect(tally.failures).toEqual([new Error('disk full')]);
});
