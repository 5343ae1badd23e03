import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BoundedMap, entryBytes, estimateBytes } from './bounded-map.ts';

describe('a bounded map', () => {
  const mapOf = (
    bounds: { entriesMax?: number; bytesMax?: number; entryBytesMax?: number; nowMs?: () => number } = {},
  ) => new BoundedMap<string>({ entriesMax: 1_000, bytesMax: 1_000_000, bytesOf: ({ length }) => length, ...bounds });

  test('gives back what was set', () => {
    const map = mapOf();
    map.set('a', 'one');
    expect([map.get('a'), map.get('b'), map.size]).toEqual(['one', undefined, 1]);
    expect([map.delete('a'), map.delete('a'), map.get('a')]).toEqual([true, false, undefined]);
  });

  test('counts the bytes of keys and values, and none of what is no longer kept', () => {
    const map = mapOf();
    map.set('kéy', 'value');
    expect(map.bytes).toBe(4 + 5 + entryBytes);
    map.set('kéy', 'v');
    expect(map.bytes).toBe(4 + 1 + entryBytes);
    map.delete('kéy');
    expect([map.bytes, map.size]).toEqual([0, 0]);
  });

  test('evicts the least recently used entry when there are too many', () => {
    const map = mapOf({ entriesMax: 2 });
    for (const key of ['a', 'b']) map.set(key, '');
    map.get('a');
    map.set('c', '');
    expect(['a', 'b', 'c'].map((key) => map.get(key) !== undefined)).toEqual([true, false, true]);
  });

  test('evicts as many entries as a large one needs room for', () => {
    const map = mapOf({ bytesMax: 4 * (entryBytes + 11) });
    for (const key of ['a', 'b', 'c', 'd']) map.set(key, 'x'.repeat(10));
    map.set('e', 'x'.repeat(20));
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => map.get(key) !== undefined)).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  test('keeps nothing that is too large, nor what had its key before', () => {
    const map = mapOf({ entryBytesMax: entryBytes + 11 });
    map.set('a', 'x'.repeat(10));
    map.set('a', 'x'.repeat(11));
    expect([map.get('a'), map.bytes]).toEqual([undefined, 0]);
  });

  test('of 0 bytes keeps nothing', () => {
    const map = mapOf({ bytesMax: 0 });
    map.set('', '');
    expect(map.size).toBe(0);
  });

  test('gives an entry until its end and not at it', () => {
    let now = 0;
    const map = mapOf({ nowMs: () => now });
    map.set('a', 'one', 1_500);
    now = 1_499;
    expect(map.get('a')).toBe('one');
    now = 1_500;
    expect([map.get('a'), map.bytes]).toEqual([undefined, 0]);
  });

  test('removes what expired in a long silence, as soon as another entry with an expiry is stored', () => {
    let now = 0;
    const map = mapOf({ nowMs: () => now });
    for (let n = 1; n <= 100; n += 1) map.set(`${n}`, '', n * 1_000);
    now = 1e12;
    map.set('new', '', 1_000);
    expect(map.size).toBe(1);
  });

  test('keeps what a plain list of entries keeps, through any history', () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('set' as const),
        key: fc.integer({ min: 0, max: 9 }),
        length: fc.nat(900),
        lifetimeMs: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined }),
      }),
      fc.record({ do: fc.constant('get' as const), key: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ do: fc.constant('delete' as const), key: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.nat(4_000) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let now = 0;
        const bounds = { entriesMax: 5, bytesMax: 2_500, entryBytesMax: 1_000 };
        const map = mapOf({ ...bounds, nowMs: () => now });
        let model: { key: string; value: string; endsAt: number }[] = []; // in the order of use
        let purgedAt = 0;
        const bytes = () => model.reduce((sum, { value }) => sum + 1 + value.length + entryBytes, 0);
        for (const each of steps) {
          if (each.do === 'wait') {
            now += each.ms;
            continue;
          }
          const key = String(each.key);
          const known = model.find((entry) => entry.key === key);
          const others = model.filter((entry) => entry.key !== key);
          if (each.do === 'get') {
            const lives = known !== undefined && known.endsAt > now;
            model = lives ? [...others, known] : others;
            expect(map.get(key)).toBe(lives ? known.value : undefined);
          } else if (each.do === 'delete') {
            model = others;
            expect(map.delete(key)).toBe(known !== undefined);
          } else {
            const value = 'x'.repeat(each.length);
            const fits = 1 + each.length + entryBytes <= bounds.entryBytesMax;
            map.set(key, value, each.lifetimeMs);
            if (each.lifetimeMs !== undefined && now - purgedAt >= 1_000) {
              purgedAt = now;
              model = model.filter(({ endsAt }) => endsAt > now);
            }
            model = model.filter((entry) => entry.key !== key);
            if (!fits) continue;
            model.push({ key, value, endsAt: now + (each.lifetimeMs ?? Number.POSITIVE_INFINITY) });
            while (model.length > bounds.entriesMax || bytes() > bounds.bytesMax) model.shift();
          }
          expect([map.size, map.bytes]).toEqual([model.length, bytes()]);
        }
      }),
    );
  });
});

test('the estimate of a value grows by the bytes of its strings and buffers, however deep they are', () => {
  const base = estimateBytes({ id: '', list: [''], set: new Set(['']), body: Buffer.alloc(0), none: null, n: 1 });
  const grown = { id: 'é', list: ['12345'], set: new Set(['123']), body: Buffer.alloc(1_000), none: null, n: 2 };
  expect(estimateBytes(grown)).toBe(base + 2 + 5 + 3 + 1_000);
});
