import { describe, expect, test } from 'vitest';
import { cacheVerified } from './verified-tokens.ts';

describe('verified tokens', () => {
  const options = { toleranceSeconds: 5, now: () => 1_000 };

  test('a valid token is verified once, and a rejected one each time', async () => {
    const asked: string[] = [];
    const tokens = cacheVerified(async (token) => {
      asked.push(token);
      if (token === 'bad') throw new Error('bad');
      return { expiresAt: 1_001, token };
    }, options);
    for (const token of ['a', 'a', 'b', 'a']) expect(await tokens.verify(token)).toMatchObject({ token });
    for (let attempt = 0; attempt < 2; attempt += 1) await expect(tokens.verify('bad')).rejects.toThrow('bad');
    expect(asked).toEqual(['a', 'b', 'bad', 'bad']);
    tokens.clear();
    await tokens.verify('a');
    expect(asked).toHaveLength(5);
  });

  test('a valid token is cached until it expires, plus the tolerance', async () => {
    let time = 1_000;
    let asked = 0;
    const verify = async () => {
      asked += 1;
      return { expiresAt: 1_010 };
    };
    const tokens = cacheVerified(verify, { toleranceSeconds: 5, now: () => time });
    for (const [at, times] of [
      [1_000, 1],
      [1_014, 1],
      [1_015, 2],
    ] as const) {
      time = at;
      await tokens.verify('a');
      expect(asked).toBe(times);
    }
  });

  test('at most 10,000 valid tokens are cached, and the least recently used one is evicted', async () => {
    const asked: string[] = [];
    const tokens = cacheVerified(async (token) => {
      asked.push(token);
      return { expiresAt: 2_000 };
    }, options);
    for (let n = 0; n < 10_000; n += 1) await tokens.verify(`t${n}`);
    await tokens.verify('t0'); // sent again: t1 is the oldest now
    await tokens.verify('new');
    asked.length = 0;
    for (const token of ['t0', 'new', 't9999', 't1']) await tokens.verify(token);
    expect(asked).toEqual(['t1']);
  });
});
