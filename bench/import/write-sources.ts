import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type SyntheticRow, syntheticRows } from '../../packages/service/import/synthetic-rows.ts';

/** The order of the records in a source. */
export const sourceOrders = ['in order', 'at random'] as const;
export type SourceOrder = (typeof sourceOrders)[number];

const until = 1_767_225_600;

/** Writes `count` deterministic records as NDJSON: ordered by `createdDate`, or shuffled. */
export async function writeSource(file: string, count: number, order: SourceOrder): Promise<void> {
  const rows: SyntheticRow[] = [];
  for (const row of syntheticRows({ count, seed: 21, until })) rows.push(row);
  if (order === 'in order') rows.sort((a, b) => (a.createdDate < b.createdDate ? -1 : 1));
  else shuffle(rows);
  const lines = (function* () {
    for (const row of rows) yield `${JSON.stringify(row)}\n`;
  })();
  await pipeline(Readable.from(lines), createWriteStream(file));
}

/** One record in this many changes. */
const changedEvery = 20;

/** Copies a source; every twentieth record is renewed: another expiration date and status. */
export async function writeChangedSource(file: string, changed: string): Promise<void> {
  const lines = async function* () {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(file) })) {
      number += 1;
      yield `${number % changedEvery === 0 ? renewed(JSON.parse(line)) : line}\n`;
    }
  };
  await pipeline(Readable.from(lines()), createWriteStream(changed));
}

const renewed = (row: SyntheticRow): string =>
  JSON.stringify({
    ...row,
    status: row.status === 'ACTIVE' ? 'DEPLETED' : 'ACTIVE',
    expirationDate: '2026-06-01T00:00:00Z',
  });

/** Shuffles items deterministically (Fisher-Yates). */
function shuffle(items: unknown[]): void {
  let state = 7;
  for (let last = items.length - 1; last > 0; last -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 4_294_967_296) * (last + 1));
    [items[last], items[other]] = [items[other], items[last]];
  }
}
