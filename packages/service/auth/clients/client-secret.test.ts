import { expect, test } from 'vitest';
import { hashChosenSecret, verifyChosenSecret } from './client-secret.ts';

test("guesses at one client take at most four places of the queue, so another client's secret is still checked", async () => {
  const hash = await hashChosenSecret('right');
  const outcome = (attempt: Promise<boolean>) => attempt.catch(({ code }: { code: string }) => code);
  const guesses = Array.from({ length: 20 }, (_, n) => outcome(verifyChosenSecret('guessed', hash, `wrong ${n}`)));
  const right = outcome(verifyChosenSecret('other', hash, 'right'));
  expect(await Promise.all(guesses)).toEqual([...Array(4).fill(false), ...Array(16).fill('temporarily_unavailable')]);
  expect(await right).toBe(true);
  // the places are free again
  expect(await verifyChosenSecret('guessed', hash, 'wrong once more')).toBe(false);
});

test('at most 32 secrets of all clients wait to be checked', async () => {
  const hash = await hashChosenSecret('right');
  const attempts = Array.from({ length: 40 }, (_, n) => verifyChosenSecret(`client ${n}`, hash, 'wrong'));
  const outcomes = await Promise.allSettled(attempts);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(32);
});
