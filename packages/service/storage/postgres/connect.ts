import pg from 'pg';
import { driverUrl, neverSendClearText } from '../../../outgoing/database.ts';
import { before } from '../deadline.ts';
import { toStorageError, translateError, withAddress } from './error.ts';
import { distributedOption } from './session.ts';
import { parserOf } from './wire/batch.ts';
import { socketOf } from './wire/driver.ts';

/** Longest time to connect in milliseconds, the wait for a free connection of the pool included. */
export const connectMsMax = 5_000;

/** Settings of a dedicated client; the driver's defaults apply to the others. */
interface DedicatedClientOptions
  extends Pick<
    pg.ClientConfig,
    'keepAlive' | 'keepAliveInitialDelayMillis' | 'options' | 'pipeline' | 'stream' | 'types'
  > {
  /** Shown as `application_name` in `pg_stat_activity`; restores look for the prefix. */
  readonly name: `subreport-${string}`;
  readonly connectMs?: number;
  /** The driver's timeout of each query; none when omitted. */
  readonly queryMs?: number;
  /** Called when the connection breaks or closes. */
  readonly onLost?: () => void;
}

/** Creates a client outside the pool, for one task. The caller connects and closes it. */
export function createDedicatedClient(
  url: string,
  { name, connectMs = connectMsMax, queryMs, onLost = () => undefined, ...options }: DedicatedClientOptions,
): pg.Client {
  const client = new pg.Client({
    ...options,
    connectionString: driverUrl(url),
    connectionTimeoutMillis: connectMs,
    ...(queryMs !== undefined && { query_timeout: queryMs }),
    application_name: name,
  });
  neverSendClearText(client);
  // without a listener, a broken connection would crash the process; running queries reject anyway
  client.on('error', onLost);
  client.on('end', onLost);
  return client;
}

/** Connects a client; the error of a failed attempt names the address. */
export async function connect(client: pg.Client, url: string): Promise<void> {
  await client.connect().catch((error: unknown) => {
    throw withAddress(toStorageError(error), url);
  });
}

/** Closes a connection without notifying the server, which may hang. */
export function closeAtOnce(client: pg.ClientBase): void {
  socketOf(client).destroy();
}

/** Closes a connection as the protocol requires, or by force if the server takes over a second. */
export async function close(client: pg.Client): Promise<void> {
  // it is closed either way
  await before(performance.now() + 1_000, client.end(), () => closeAtOnce(client)).catch(() => undefined);
}

/**
 * Runs work on a dedicated connection without a time limit: migrating a large table or waiting for
 * another migration may take long.
 */
export async function useUnbounded<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  given: DedicatedClientOptions = { name: 'subreport-migrate', pipeline: true },
): Promise<T> {
  const types = { getTypeParser: parserOf };
  const client = createDedicatedClient(url, { ...given, options: distributedOption, types });
  try {
    await connect(client, url);
    return await work(client);
  } catch (error) {
    throw translateError(error);
  } finally {
    await close(client);
  }
}
