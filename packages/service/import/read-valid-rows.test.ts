import { expect, test } from 'vitest';
import { endTurn } from './read-valid-rows.ts';

test('imports that run at once continue one after another, each in a turn of its own', async () => {
  let turn = 0;
  const count = (): void => {
    turn += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const turns: number[] = [];
  const readRows = async (): Promise<void> => {
    for (let rest = 3; rest > 0; rest -= 1) {
      let end = endTurn();
      while (end === undefined) end = endTurn();
      await end;
      turns.push(turn);
    }
  };
  await Promise.all([readRows(), readRows(), readRows()]);
  clearImmediate(next);
  expect(new Set(turns).size).toBe(turns.length);
});
