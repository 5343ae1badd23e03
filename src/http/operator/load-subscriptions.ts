import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Access } from '../../auth/resource-server.ts';
import { parseForm } from '../../contract/form.ts';
import type { Fault } from '../../contract/problem.ts';
import { ImportError } from '../../import/error.ts';
import { requireNoImport } from '../../import/import-lock.ts';
import { type ImportSummary, importRecords } from '../../import/import-records.ts';
import type { RejectedRow } from '../../import/read-good-rows.ts';
import { type ReplaceSummary, replaceRecords } from '../../import/replace-records.ts';
import type { Spool } from '../../import/spool.ts';
import { nameFaults } from '../../report/parse.ts';
import { refuse } from '../../report/refuse.ts';
import type { ReportContext } from '../../report/report-context.ts';
import { accessOf } from '../listener/access.ts';
import { RequestError } from '../listener/error.ts';
import { queryOf } from '../listener/query-of.ts';
import { readBody } from '../listener/read-body.ts';
import { liftDeadline } from '../listener/request-deadline.ts';
import { createSlots } from '../listener/slots.ts';

/** What the operation needs. */
export interface LoadRoute {
  readonly report: Pick<ReportContext, 'store'>;
  /** Checks the `Authorization` header for the scope of writing. */
  readonly authorizeWrite: (header: string | undefined) => Promise<Access>;
  /** Where a body is kept that is read twice. */
  readonly spool: Spool;
  /** Longest wait for the next bytes of a body, in milliseconds. */
  readonly bodyStallMs: number;
}

/** Where a tenant's records are loaded. */
export const loadPath = {
  route: '/operator/v1/tenants/:tenant/subscriptions',
  pattern: /^\/operator\/v1\/tenants\/[^/]+\/subscriptions$/,
};

const mediaTypes = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'];
const packings = ['gzip', 'x-gzip', 'zstd', 'identity'];
const switches = ['replace', 'strict', 'dry-run', 'allow-empty'] as const;
type Switches = Readonly<Record<(typeof switches)[number], boolean>>;

/** Longest message of a problem, as its contract says. */
const messageMax = 2_048;

/**
 * Rows of one transaction on the embedded store, whose other writes of this process wait meanwhile,
 * a token for one: some ten milliseconds.
 */
const batchRowsMax = 500;

/**
 * Rejected rows that end a load: telling apart two million bad rows, 4 KB of gzip, took 116 s of a
 * process that has other requests.
 */
const rejectedMax = 10_000;

/** Rejected rows that an answer shows. */
const shownMax = 100;

/** Each load holds one connection of the store beside the shared ones, one that replaces two. */
const loadLimits = { max: 8, perClientMax: 2 };

/** Bytes that a body may unpack to: some 15 million records. */
const unpackedBytesMax = 8 * 2 ** 30;

/** A rejected row as an answer shows it. */
type ShownRow = Pick<RejectedRow, 'line' | 'errors'>;

/**
 * `PUT /operator/v1/tenants/{tenant}/subscriptions`: an import over HTTP, with the guarantees of
 * one from a file (docs/operator.md).
 */
export function addLoadRoute(app: FastifyInstance, options: LoadRoute): void {
  const { authorizeWrite, bodyStallMs } = options;
  const takeSlot = createSlots(loadLimits, 'load');
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // the handler reads the body, as fast as it can load it
    for (const type of mediaTypes) scope.addContentTypeParser(type, async () => undefined);
    scope.route<{ Params: { tenant: string } }>({
      method: 'PUT',
      url: loadPath.route,
      bodyLimit: Number.MAX_SAFE_INTEGER,
      onRequest: async (request) => {
        request.access = await authorizeWrite(request.headers.authorization);
        requireTenant(accessOf(request), request.params.tenant);
        requirePacking(request);
      },
      handler: async (request, reply) => {
        liftDeadline(request); // its body is bounded by its pauses, each batch by the store
        const how = readSwitches(queryOf(request));
        const { clientId, tenant } = accessOf(request);
        const started = performance.now();
        const shown: ShownRow[] = [];
        const onRejected = ({ line, errors }: RejectedRow): void => {
          if (shown.length < shownMax) shown.push({ line, errors });
        };
        const release = takeSlot(clientId, tenant);
        const body = readBody(request.raw, bodyStallMs);
        const summary = await load(options, tenant, body, how, onRejected)
          .catch((error: unknown) => {
            throw error instanceof ImportError ? toRequestError(error, shown) : error;
          })
          .finally(release);
        if (summary.refused !== undefined) throw toRequestError(summary.refused, shown);
        const { refused: _refused, ...counts } = summary;
        return reply.header('cache-control', 'no-store').send({
          tenant,
          dry_run: how['dry-run'],
          ...counts,
          seconds: Math.round(performance.now() - started) / 1000,
          errors: shown,
          correlation_id: request.id,
        });
      },
    });
  });
}

/** A tenant that is not that of the token's client is answered as one that does not exist. */
function requireTenant({ tenant }: Access, asked: string): void {
  if (tenant === asked) return;
  throw new RequestError(
    'NOT_FOUND',
    'Cannot find the tenant: it must be the one whose client the access token was issued to',
  );
}

function requirePacking({ headers }: FastifyRequest): void {
  const given = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (packings.includes(given)) return;
  throw new RequestError(
    'UNSUPPORTED_MEDIA_TYPE',
    "Cannot read the body: the header 'content-encoding' must be gzip or zstd, or left out",
  );
}

function readSwitches(query: string): Switches {
  const { pairs, malformed } = parseForm(query);
  const faults: Fault[] = [
    ...malformed.map(() => ({ parameter: '', value: null, rule: 'UTF-8 in percent-encoding' })),
    ...nameFaults(pairs, switches),
    ...pairs
      .filter(({ name, value }) => switches.some((each) => each === name) && value !== 'true' && value !== 'false')
      .map(({ name, value }) => ({ parameter: name, value, rule: 'true or false, such as true' })),
  ];
  const isOn = (name: string): boolean => pairs.some((pair) => pair.name === name && pair.value === 'true');
  if (isOn('allow-empty') && !isOn('replace'))
    faults.push({ parameter: 'allow-empty', value: 'true', rule: 'given together with replace=true' });
  refuse(faults, malformed.length > 0);
  return Object.fromEntries(switches.map((name) => [name, isOn(name)])) as Switches;
}

async function load(
  { report: { store }, spool }: LoadRoute,
  tenant: Access['tenant'],
  body: AsyncIterable<Buffer>,
  how: Switches,
  onRejected: (row: RejectedRow) => void,
): Promise<ImportSummary & Partial<ReplaceSummary>> {
  const { 'dry-run': dryRun, 'allow-empty': allowEmpty } = how;
  const options = {
    format: 'ndjson',
    dryRun,
    onRejected,
    rejectedMax,
    unpackedBytesMax,
    ...(store.engine === 'sqlite' && { batchRowsMax }),
  } as const;
  if (how.replace) return replaceRecords(store, tenant, body, { ...options, allowEmpty });
  if (!how.strict) return importRecords(store, tenant, body, options);
  await requireNoImport(store, tenant); // said before the body has been taken in, not after it
  const kept = await spool.keep(body);
  try {
    const checked = await importRecords(store, tenant, kept.open(), { ...options, dryRun: true });
    if (checked.rejected > 0) {
      const refused = new ImportError(
        'BAD_ROWS',
        `Cannot import strictly: every row must be right: ${checked.rejected} of ${checked.read} are not; nothing was loaded`,
      );
      return { ...checked, refused };
    }
    return dryRun ? checked : await importRecords(store, tenant, kept.open(), options);
  } finally {
    await kept.close();
  }
}

function toRequestError(error: ImportError, rejected: readonly ShownRow[] = []): unknown {
  if (error.code === 'BUSY') return new RequestError('UNAVAILABLE', error.message, { 'retry-after': '10' });
  if (error.code === 'NO_TENANT') return new RequestError('NOT_FOUND', error.message);
  if (error.code === 'NO_ROOM') return new RequestError('UNAVAILABLE', error.message, { 'retry-after': '60' });
  if (error.code === 'TOO_LARGE') return new RequestError('PAYLOAD_TOO_LARGE', error.message);
  const rows = rejected.map(({ line, errors }) => {
    const faults = errors.map(({ field, rule }) => `${field === '' ? 'the row' : field} must be ${rule}`);
    return `line ${line}: ${faults.join('; ')}`.slice(0, messageMax);
  });
  return new RequestError('INVALID_HTTP_MESSAGE', error.message, {}, rows);
}
