import { readdirSync, readlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { subscriptionRow } from '../../../test/support/rows.ts';
import type { Subscription, SubscriptionChange } from '../../client/index.ts';
import { ChangeSpool } from './change-spool.ts';

const recordOf = (id: string, deviceId: string): Subscription => JSON.parse(subscriptionRow({ id, deviceId }).record);

const page = (revision: number, ...changes: SubscriptionChange[]) => ({ changes, next: 'n', hasMore: false, revision });

test('a record that changes while the changes are read is in an increment once, as it was last', async () => {
  const changes = await ChangeSpool.open();
  await changes.add(page(1, recordOf('a', 'one'), recordOf('b', 'one'), recordOf('c', 'one')));
  await changes.add(page(2, recordOf('d', 'one'), recordOf('a', 'two'), { id: 'b', removed: true }));
  await changes.add(page(3, recordOf('a', 'three')));
  const lines = (await Array.fromAsync(changes.lines())).flat().map((line) => JSON.parse(line));
  expect(lines.map(({ id, device_id, removed }) => [id, device_id ?? removed])).toEqual([
    ['c', 'one'],
    ['d', 'one'],
    ['b', true],
    ['a', 'three'],
  ]);
  await changes.remove();
});

test.runIf(process.platform === 'linux')(
  'no file is left if the process is killed while it keeps changes',
  async () => {
    const changes = await ChangeSpool.open();
    const open = readdirSync('/proc/self/fd').map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return ''; // that of this list
      }
    });
    expect(open.filter((path) => path.includes('subreport-changes-'))).toEqual([
      expect.stringMatching(/ \(deleted\)$/),
    ]);
    await changes.remove();
  },
);
