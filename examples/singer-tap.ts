// A Singer tap: writes all subscriptions, and in later runs what changed since, as messages for a
// Singer target, such as Meltano's. The target must support ACTIVATE_VERSION.
//
//   node singer-tap.ts [--config FILE] [--state FILE]
//
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET, or a JSON file with url,
//           client_id and client_secret
// Exit code: 0 up to date, 1 failed: run it again with the last state, 2 wrong usage
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ApiError, type ChangesPage, createClient, isRemoved, SubreportError } from '@subreport/client';

/** What a run leaves for the next one. */
interface Bookmark {
  readonly client_id: string;
  /** The change token to continue from. */
  readonly token: string;
  /** The version of the table: all records of one full read, and the changes after it. */
  readonly version: number;
  /** Whether the full read has not ended. */
  readonly loading: boolean;
}

const stream = 'subscriptions';
const text = { type: ['string', 'null'] };
const instant = { type: ['string', 'null'], format: 'date-time' };
// all but the id may be null: a removed record has only its id
const properties = {
  id: { type: 'string' },
  status: text,
  activationDate: instant,
  expirationDate: instant,
  createdDate: instant,
  product: {
    type: ['object', 'null'],
    properties: { id: text, name: text, period: { type: ['integer', 'null'] }, period_unit: text, plan_id: text },
  },
  iccid: text,
  device_id: text,
  auto_renew: text,
  _sdc_deleted_at: instant,
};

function fail(message: string): never {
  console.error(`singer-tap: ${message}`);
  process.exit(2);
}

function readOptions() {
  const { values } = parseArgs({ options: { config: { type: 'string' }, state: { type: 'string' } } });
  const config = values.config === undefined ? {} : JSON.parse(readFileSync(values.config, 'utf8'));
  const {
    url = process.env.SUBREPORT_URL,
    client_id: clientId = process.env.SUBREPORT_CLIENT_ID,
    client_secret: clientSecret = process.env.SUBREPORT_CLIENT_SECRET,
  } = config;
  if (!url || !clientId || !clientSecret) throw new TypeError('url, client_id and client_secret must be given');
  // a target prints one state after another: the last line counts
  const states = values.state !== undefined && existsSync(values.state) ? readFileSync(values.state, 'utf8') : '';
  const state = JSON.parse(states.trimEnd().split('\n').at(-1) || '{}');
  return { url, clientId, clientSecret, bookmark: state.bookmarks?.[stream] as Bookmark | undefined };
}

let options: ReturnType<typeof readOptions>;
try {
  options = readOptions();
} catch (error) {
  fail(`${(error as Error).message}. Usage: node singer-tap.ts [--config FILE] [--state FILE]`);
}
const { bookmark, ...connection } = options;
if (bookmark !== undefined && bookmark.client_id !== connection.clientId)
  fail(`the state must be of this client, or absent: it is of '${bookmark.client_id}'`);

/** Writes messages, no faster than the target reads them. */
const write = (...messages: readonly object[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const lines = messages.map((message) => `${JSON.stringify(message)}\n`).join('');
    process.stdout.write(lines, (error) => (error ? reject(error) : resolve()));
  });

let version = bookmark?.version ?? 0;
let loading = bookmark?.loading ?? true;

/** Writes the records of a page, and then the state after it, so that a lost page is read again. */
async function writePage({ changes, next, hasMore }: ChangesPage): Promise<void> {
  const now = new Date().toISOString();
  const records = changes.map((change) =>
    isRemoved(change) ? { id: change.id, _sdc_deleted_at: now } : { ...change, _sdc_deleted_at: null },
  );
  await write(...records.map((record) => ({ type: 'RECORD', stream, version, time_extracted: now, record })));
  if (loading && !hasMore) {
    // the target deletes what it has of other versions
    await write({ type: 'ACTIVATE_VERSION', stream, version });
    loading = false;
  }
  const position: Bookmark = { client_id: connection.clientId, token: next, version, loading };
  await write({ type: 'STATE', value: { bookmarks: { [stream]: position } } });
}

const client = createClient(connection);

async function readChanges(since: string | undefined): Promise<void> {
  if (since === undefined) [version, loading] = [Math.max(Date.now(), version + 1), true];
  for await (const page of client.changes(since)) await writePage(page);
}

process.stdout.on('error', ({ message }) => {
  console.error(`singer-tap: the target has ended: ${message}`);
  process.exit(1);
});
await write({ type: 'SCHEMA', stream, schema: { type: 'object', properties }, key_properties: ['id'] });
try {
  await readChanges(bookmark?.token).catch((error) => {
    // 410: the change token is no longer valid, for example because the service was restored
    if (error instanceof ApiError && error.code === 'RESYNC_REQUIRED') return readChanges(undefined);
    throw error;
  });
} catch (error) {
  if (!(error instanceof SubreportError)) throw error;
  console.error(`singer-tap: ${error.message} (${error.code}, correlation id ${error.correlationId})`);
  process.exitCode = 1;
}
