import { expect, test } from 'vitest';
import { startedAt } from './started-at.ts';

test('the id of an import begins with the time of its start', () => {
  expect(startedAt('01890a5d-ac96-774b-bcce-b302099a8057')).toBe('2023-06-30T03:34:18.518Z');
});
