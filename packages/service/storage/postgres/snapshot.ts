import { inStatement } from '../../tracing/statement-span.ts';
import { before } from '../deadline.ts';
import type { Row, SqlValue, TenantId, TenantSnapshot } from '../store.ts';
import { close, closeAtOnce, connect, createDedicatedClient } from './connect.ts';
import { bypassesRowSecurity } from './database-facts.ts';
import { toStorageError } from './error.ts';
import { beginReading, limitTime, sessionOptions, tenantOpening } from './session.ts';
import { readMessages } from './wire/driver.ts';
import { LineQuery } from './wire/line-query.ts';
import { createReusingSocket } from './wire/reusing-socket.ts';

/**
 * Timeout of one statement of a snapshot in milliseconds: the first batch may have to sort a whole
 * report.
 */
export const statementMs = 60_000;
/** Added to the agreed pause before the server aborts an idle transaction. */
const pauseMarginMs = 15_000;

/** Memory of a first batch; it grows as needed. */
const firstMemory = (): Buffer => Buffer.allocUnsafeSlow(256 * 1024);

/**
 * Opens a snapshot of a tenant's subscriptions on a dedicated connection. Rows are read through a
 * cursor, so that a report in any order is sorted once. The server bounds each batch and the pause
 * between two batches, but not the whole. Opening and `all` must finish by the deadline.
 */
export async function openPostgresSnapshot(
  url: string,
  tenant: TenantId,
  pauseMsMax: number,
  deadline: number,
): Promise<TenantSnapshot> {
  const client = createDedicatedClient(url, {
    name: 'subreport-export',
    keepAlive: true,
    options: sessionOptions,
    stream: createReusingSocket,
  });
  // With callbacks, and without the driver's timer for batches: both promises and timers kept
  // results alive until a full collection (100 MB of memory for a report of 36 MB instead of 28).
  // The consumer of a stream bounds its pauses, and `close` aborts a batch that never arrives.
  const query = (text: string, values: readonly SqlValue[] = [], timeoutMs?: number): Promise<readonly Row[]> =>
    new Promise((resolve, reject) => {
      const config = { text, values: [...values], ...(timeoutMs !== undefined && { query_timeout: timeoutMs }) };
      void client.query(config, (error: unknown, result: { rows: readonly Row[] }) =>
        error === null || error === undefined ? resolve(result.rows) : reject(toStorageError(error)),
      );
    });
  const queryInTime = (text: string, values?: readonly SqlValue[]) => query(text, values, statementMs + 2_000);
  const inTime = <T>(work: Promise<T>): Promise<T> => before(deadline, work);
  const open = async (): Promise<void> => {
    await connect(client, url);
    readMessages(client);
    const stepDown = await bypassesRowSecurity(client);
    for (const [text, values] of tenantOpening(beginReading, tenant, stepDown)) await queryInTime(text, values);
    await queryInTime(limitTime(statementMs, pauseMsMax + pauseMarginMs));
  };
  const opening = open();
  await inTime(opening).catch((error: unknown) => {
    closeAtOnce(client);
    throw toStorageError(error);
  });
  async function* batches(sql: string, values: readonly SqlValue[], batchRows: number) {
    await queryInTime(`declare batches no scroll cursor for ${sql}`, [tenant, ...values]);
    const fetch = (memory: Buffer) =>
      new LineQuery(`fetch forward ${batchRows} from batches`, memory).run(client).catch((error: unknown) => {
        throw toStorageError(error);
      });
    // two batches take turns in the same memory, as on SQLite
    let free = firstMemory();
    let next = fetch(firstMemory());
    for (let batch = await next; batch.rows > 0; batch = await next) {
      next = fetch(free); // the next batch is fetched while this one is written
      next.catch(() => undefined); // a failure is reported where it is awaited, if it is
      yield batch;
      free = Buffer.from(batch.lines.buffer);
    }
    await queryInTime('close batches');
  }
  // this driver warns of a query before the one before it has ended
  let last: Promise<unknown> = opening;
  return {
    all(sql, values = []) {
      const rows = last.then(() => inStatement('postgresql', sql, () => inTime(queryInTime(sql, [tenant, ...values]))));
      last = rows.catch(() => undefined);
      return rows;
    },
    streamLines: batches,
    close: () => close(client), // closes at once if a query is running
  };
}
