import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BoundedMap, entryBytes, estimateBytes } from './bounded-map.ts';

describe('a bounded map', () => {
  const mapOf = (
    bounds: { entriesMax?: number; bytesMax?: number; entryBytesMax?: number; nowMs?: () => number } = {},
  ) => new BoundedMap<string>({ entriesMax: 1_000, bytesMax: 1_000_000, bytesOf: ({ length }) => length, ...bounds });

  test('counts the bytes of keys and values, and none of what is no longer kept', () => {
    const map = mapOf();
    map.set('kéy', 'value');
    expect(map.bytes).toBe(4 + 5 + entryBytes);
    map.set('kéy', 'v');
    expect(map.bytes).toBe(4 + 1 + entryBytes);
    map.delete('kéy');
    expect([map.bytes, map.size]).toEqual([0, 0]);
  });

  test('of 0 bytes keeps nothing', () => {
    const map = mapOf({ bytesMax: 0 });
    map.set('', '');
    expect(map.size).toBe(0);
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
