import { expect, test } from 'vitest';
import { whenUnused } from './databases.ts';

const inUse = Object.assign(new Error('is being accessed by other users'), { code: '55006' });

/** Fails with these errors, one after another, and then succeeds. */
function failing(...errors: readonly Error[]) {
  const left = [...errors];
  return async (): Promise<void> => {
    const error = left.shift();
    if (error !== undefined) throw error;
  };
}

test('work on a database waits while others use it, and fails for any other reason, or in the end', async () => {
  const quick = { times: 2, afterMs: 0 };
  await whenUnused(failing(inUse, inUse), quick);
  await expect(whenUnused(failing(inUse, inUse, inUse), quick)).rejects.toBe(inUse);
  const other = Object.assign(new Error('permission denied'), { code: '42501' });
  await expect(whenUnused(failing(other), quick)).rejects.toBe(other);
});
