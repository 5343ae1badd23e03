import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RequestError } from './error.ts';
import { createMemoryBudget, createSlots } from './slots.ts';

const limits = { max: 4, perClientMax: 2, perTenantMax: 3 };

/** Returns the error of taking a slot, or `undefined`. */
function refusal(take: () => unknown): RequestError | undefined {
  try {
    take();
    return undefined;
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}

test('a client that has all its slots gets 429 with Retry-After, while another client gets a slot', () => {
  const take = createSlots(limits, 'export');
  for (let n = 0; n < limits.perClientMax; n += 1) take('a', 'acme');
  const error = refusal(() => take('a', 'acme'));
  expect([error?.code, error?.headers]).toEqual(['TOO_MANY_REQUESTS', { 'retry-after': '10' }]);
  expect(refusal(() => take('b', 'acme'))).toBeUndefined();
});

test('a tenant whose clients have all its slots gets 429, while another tenant gets a slot', () => {
  const take = createSlots(limits, 'export');
  for (const client of ['a', 'b', 'c']) take(client, 'acme');
  expect(refusal(() => take('d', 'acme'))?.code).toBe('TOO_MANY_REQUESTS');
  expect(refusal(() => take('e', 'globex'))).toBeUndefined();
});

test('a process whose slots are all taken responds with 503', () => {
  const take = createSlots(limits, 'load');
  for (const client of ['a', 'b', 'c', 'd']) take(client, `tenant of ${client}`);
  expect(refusal(() => take('e', 'tenant of e'))?.code).toBe('UNAVAILABLE');
});

test('a tenant that hangs keeps one slot at most, and takes none from others', () => {
  const hanging = new Set<string>();
  const take = createSlots({ ...limits, isHanging: (tenant) => hanging.has(tenant) }, 'export');
  const releases = ['a', 'b', 'c', 'd'].map((client) => take(client, `tenant of ${client}`));
  expect(refusal(() => take('e', 'tenant of e'))?.code).toBe('UNAVAILABLE');
  for (const client of ['a', 'b', 'c']) hanging.add(`tenant of ${client}`);
  expect(refusal(() => take('other', 'tenant of a'))?.code).toBe('UNAVAILABLE');
  for (const client of ['e', 'f', 'g']) take(client, `tenant of ${client}`);
  expect(refusal(() => take('h', 'tenant of h'))?.code).toBe('UNAVAILABLE');
  for (const release of releases) release();
  take('a', 'tenant of a');
});

test('without a limit per tenant, one tenant may take every slot', () => {
  const take = createSlots({ max: 3, perClientMax: 1 }, 'load');
  expect(['a', 'b', 'c'].map((client) => refusal(() => take(client, 'acme')))).toEqual(Array(3).fill(undefined));
});

test('the message of a refused slot ends with the advice', () => {
  const take = createSlots({ max: 0, perClientMax: 1 }, 'export', ', or read page by page');
  expect(refusal(() => take('a', 'acme'))?.message).toMatch(/^Cannot export now: .*, or read page by page$/);
});

test('a slot that is released twice is free once', () => {
  const take = createSlots({ max: 2, perClientMax: 2 }, 'export');
  const release = take('a', 'acme');
  take('a', 'acme');
  release();
  release();
  take('a', 'acme');
  expect(refusal(() => take('a', 'acme'))?.code).toBe('TOO_MANY_REQUESTS');
});

test('slots never exceed a limit, and all are free again after their release (property)', () => {
  const request = fc.record({ client: fc.constantFrom('a', 'b', 'c'), tenant: fc.constantFrom('x', 'y') });
  const step = fc.oneof(request, fc.nat({ max: 5 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const take = createSlots(limits, 'export');
      const held: { client: string; tenant: string; release: () => void }[] = [];
      const countOf = (key: 'client' | 'tenant', value: string) => held.filter((each) => each[key] === value).length;
      for (const each of steps) {
        if (typeof each === 'number') {
          for (const { release } of held.splice(each, 1)) release();
          continue;
        }
        const { client, tenant } = each;
        const isFree =
          held.length < limits.max &&
          countOf('client', client) < limits.perClientMax &&
          countOf('tenant', tenant) < limits.perTenantMax;
        const error = refusal(() => held.push({ client, tenant, release: take(client, tenant) }));
        expect(error === undefined).toBe(isFree);
      }
    }),
  );
});

const mib = 1_048_576;

test('exports and loads share the memory of their process: one beyond it gets 503 until another one ends', () => {
  const memory = createMemoryBudget(60 * mib);
  const exportNow = createSlots({ max: 100, perClientMax: 100, memory }, 'export');
  const load = createSlots({ max: 100, perClientMax: 100, memory }, 'load');
  const [endLoad] = [load('a', 'acme'), load('b', 'globex')];
  expect(refusal(() => load('c', 'initech'))).toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('must leave memory for another one'),
    headers: { 'retry-after': '10' },
  });
  exportNow('a', 'acme');
  expect(refusal(() => exportNow('c', 'initech'))?.code).toBe('UNAVAILABLE');
  endLoad();
  endLoad(); // frees nothing more
  for (let n = 0; n < 3; n += 1) exportNow('c', 'initech');
  expect(refusal(() => exportNow('c', 'initech'))?.code).toBe('UNAVAILABLE');
});

test('work that is refused because its client, its tenant or the process has too much takes no memory', () => {
  const memory = createMemoryBudget(50 * mib);
  const load = createSlots({ max: 1, perClientMax: 1, memory }, 'load');
  const end = load('a', 'acme');
  for (const [client, tenant] of [
    ['a', 'acme'],
    ['b', 'acme'],
    ['c', 'globex'],
  ] as const)
    expect(refusal(() => load(client, tenant))).toBeDefined();
  end();
  const loadMore = createSlots({ max: 2, perClientMax: 2, memory }, 'load');
  expect([1, 2].map(() => refusal(() => loadMore('a', 'acme')))).toEqual([undefined, undefined]);
});

test('a process with too little memory for a load still runs one at a time', () => {
  const load = createSlots({ max: 8, perClientMax: 2, memory: createMemoryBudget(mib) }, 'load');
  const end = load('a', 'acme');
  expect(refusal(() => load('b', 'globex'))?.code).toBe('UNAVAILABLE');
  end();
  expect(refusal(() => load('b', 'globex'))).toBeUndefined();
});
