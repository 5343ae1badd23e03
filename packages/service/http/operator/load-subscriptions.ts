import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  type LoadFlag,
  type LoadSummary,
  loadFlags,
  loadMediaTypes,
  loadOperation,
  loadParameters,
  type RejectedRow,
  rejectedRowsShown,
  savedMapping,
} from '../../../contract/load.ts';
import { describeFaults } from '../../../contract/parameter-faults.ts';
import { type Fault, ProblemError, shorten } from '../../../contract/problem.ts';
import { ruleOf } from '../../../contract/schema.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import { isOperatorHeader } from '../../auth/verify/authorize-operator.ts';
import type { Access } from '../../auth/verify/resource-server.ts';
import { MappingError, parseMapping } from '../../import/column-mapping.ts';
import type { ColumnMapping } from '../../import/csv-layout.ts';
import { httpWindowBytesMax } from '../../import/decompress.ts';
import { encodingOf } from '../../import/encoding.ts';
import { ImportError } from '../../import/error.ts';
import type { ImportFormat, SourceOptions } from '../../import/read-valid-rows.ts';
import type { Spool } from '../../import/spool.ts';
import { OperatorError } from '../../operator/error.ts';
import { loadRecords } from '../../operator/load.ts';
import type { Actor } from '../../operator/perform.ts';
import { requireTenant, resolveMapping } from '../../operator/require-tenant.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { RequestError } from '../listener/error.ts';
import { queryOf, requireCoding, routePath } from '../listener/operation-routes.ts';
import type { RateLimiter } from '../listener/rate-limit.ts';
import { type BodyPace, readBody } from '../listener/read-body.ts';
import { liftDeadline } from '../listener/request-deadline.ts';
import { createSlots, type TakeMemory } from '../listener/slots.ts';
import {
  type AuthorizeOperator,
  actorOf,
  logUnrecordedEnd,
  readPath,
  readQuery,
  rejectAction,
  toRequestError,
} from './operator-request.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who loads records, once authorized. */
    load: LoadAccess | null;
  }
}

/** Who may load records, and into which tenant. */
interface LoadAccess {
  readonly tenant: TenantId;
  readonly actor: Actor;
  /** Id under which the loads of a caller are counted for the limit. */
  readonly callerId: string;
}

/** What the operation needs. */
export interface LoadRoute {
  readonly store: Store;
  /** Keeps bodies until they are loaded. */
  readonly spool: Spool;
  /** Shared with exports. */
  readonly memory?: TakeMemory | undefined;
  readonly bodyPace: BodyPace;
  readonly measure?: LoadMeasure | undefined;
  /** UTC epoch seconds. */
  readonly now: () => number;
  readonly audit: AuditLog;
  readonly limiter: Pick<RateLimiter, 'countCostly'>;
}

/** Receives the number of loads in progress, and the rows of each finished load. */
interface LoadMeasure {
  readonly loads: (inProgress: number) => void;
  readonly loaded: (rows: Pick<LoadSummary, 'accepted' | 'rejected'>) => void;
}

const formats: Readonly<Record<string, ImportFormat>> = {
  [loadMediaTypes.ndjson]: 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  [loadMediaTypes.csv]: 'csv',
};
const codings = ['gzip', 'zstd'];

/**
 * Most rejected rows before a load ends: rejecting two million rows, 4 KB of gzip, took 116 s of a
 * process that serves other requests.
 */
const rejectedMax = 10_000;

/**
 * Each load holds its own connection to the store; one that replaces holds two. One load of a
 * tenant runs at a time.
 */
const loadLimits = { max: 8, perClientMax: 2, perTenantMax: 4 };

/** Limits of a compressed body: its bytes are some 15 million records. */
const decompression = { bytesMax: 8 * 2 ** 30, windowBytesMax: httpWindowBytesMax };

/** Returns who loads records into the tenant with a name, or rejects. */
type AuthorizeLoad = (request: FastifyRequest, tenant: string) => Promise<LoadAccess>;

/**
 * Makes the function that adds `loadSubscriptions`: an import over HTTP, with the guarantees of one
 * from a file. Wherever it is added, it shares the limits.
 */
export function createLoadRoute(options: LoadRoute): (app: FastifyInstance, authorize: AuthorizeLoad) => void {
  const { method, path } = loadOperation;
  const { store, memory, measure } = options;
  const isHanging = (tenant: string): boolean => store.isHanging?.(tenant) === true;
  const takeSlot = createSlots({ ...loadLimits, memory, isHanging, onCount: measure?.loads }, 'load');
  return (app, authorize) =>
    void app.register(async (scope) => {
      scope.decorateRequest('load', null);
      scope.removeAllContentTypeParsers();
      // the handler reads the body, as fast as it can load it
      for (const type of Object.keys(formats)) scope.addContentTypeParser(type, async () => undefined);
      scope.route<{ Params: { tenant: string } }>({
        method,
        url: routePath(path),
        bodyLimit: Number.MAX_SAFE_INTEGER,
        onRequest: async (request, reply) => {
          const load = await authorize(request, request.params.tenant);
          // operators have no limit
          if (request.access !== null) await options.limiter.countCostly(request, reply, 'loads');
          request.load = load;
          requireCoding(request, codings);
          requireWhole(request);
        },
        handler: async (request, reply) => {
          liftDeadline(request); // stalls bound the body, the store bounds each batch
          const { format, encoding } = formatOf(request);
          const { flags, remove, columns } = parseLoadParameters(queryOf(request));
          requireCsv(columns, format);
          const { callerId, tenant } = loadOf(request);
          const mapping = await resolveMapping(options.store, tenant, columns).catch(sayHowToMap);
          const release = takeSlot(callerId, tenant);
          const summary = await loadBody(options, request, { flags, remove, format, mapping, encoding }).finally(
            release,
          );
          if (!summary.dry_run) options.measure?.loaded(summary);
          return reply.header('cache-control', 'no-store').send(summary);
        },
      });
    });
}

/** Rejects a part of a file (RFC 9110 §14.5): a replacement by it would delete other records. */
function requireWhole({ headers }: FastifyRequest): void {
  if (headers['content-range'] === undefined) return;
  throw new RequestError(
    'INVALID_HTTP_MESSAGE',
    "Cannot load a part of a file: the header 'content-range' must be absent, and the body must be the whole file",
  );
}

function loadOf({ load }: FastifyRequest): LoadAccess {
  if (load === null) throw new TypeError('Cannot load records: the route must authorize first');
  return load;
}

/** The format of a body, whose media type the server has accepted, and its encoding. */
function formatOf({ headers }: FastifyRequest): Pick<SourceOptions, 'format' | 'encoding'> {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const format = formats[type.trim()] ?? 'ndjson';
  const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^"\s]*)/.exec(each)?.[1]).find((name) => name);
  if (charset === undefined) return { format };
  const encoding = encodingOf(charset, (rule) => {
    const text = `Cannot read the body: its charset must be ${rule}, or absent: current value is '${shorten(charset)}'`;
    throw new RequestError('UNSUPPORTED_MEDIA_TYPE', text);
  });
  return { format, encoding };
}

/** Rethrows why the saved mapping of a tenant cannot be used, with what a client may do next. */
function sayHowToMap(error: unknown): never {
  if (!(error instanceof OperatorError)) throw error;
  const message = `${error.message}; send the mapping itself as columns, or save it first (PUT /operator/v1/tenants/{tenant}/columns)`;
  const rule = 'a mapping of columns, if the tenant has no saved one that can be used';
  const report = describeFaults([{ parameter: 'columns', value: savedMapping, rule }], false);
  throw new ProblemError({ ...report, messages: [message] });
}

/** Throws `ProblemError` for a mapping of columns of a body that has none. */
function requireCsv(columns: LoadQuery['columns'], format: ImportFormat): void {
  if (columns === undefined || format === 'csv') return;
  const fault = { parameter: 'columns', value: null, rule: `combined with a body of ${loadMediaTypes.csv}` };
  throw new ProblemError(describeFaults([fault], false));
}

/** Loads the body of a request; throws `RequestError` if nothing, or not all of it, was loaded. */
async function loadBody(
  { store, now, audit, spool, bodyPace }: LoadRoute,
  request: FastifyRequest,
  what: Pick<LoadQuery, 'flags' | 'remove'> & Pick<SourceOptions, 'format' | 'mapping' | 'encoding'>,
): Promise<LoadSummary> {
  const { tenant, actor } = loadOf(request);
  const errors: RejectedRow[] = [];
  const context = { store, now, audit, actor, correlationId: request.id, onUnrecorded: logUnrecordedEnd(request) };
  const { summary, refused } = await loadRecords(context, {
    ...what,
    tenant,
    via: 'http',
    source: {
      ...{ spool, tenant },
      bytes: Number(request.headers['content-length'] ?? 0),
      open: () => readBody(request.raw, bodyPace),
    },
    errors,
    errorsMax: rejectedRowsShown,
    rejectedMax,
    decompression,
    batchRowsMax: store.servingBatchRowsMax,
  }).catch((error: unknown) => {
    throw error instanceof ImportError ? toRequestError(error, errors) : error;
  });
  if (refused !== undefined) throw toRequestError(refused, errors);
  return { ...summary, correlation_id: request.id };
}

/** The parameters of a load that are `true` or `false`. */
type LoadFlags = Readonly<Record<LoadFlag, boolean>>;

/** What the query string of a load says. */
interface LoadQuery {
  readonly flags: LoadFlags;
  readonly remove: number | undefined;
  readonly columns: ColumnMapping | typeof savedMapping | undefined;
}

const flagNames = Object.keys(loadFlags) as LoadFlag[];

/** Reads the query string of a load; throws `ProblemError` with every fault. */
export function parseLoadParameters(query: string): LoadQuery {
  let columns: LoadQuery['columns'];
  const values = readQuery(query, loadParameters, [], (read) => {
    const faults: Fault[] = [];
    if (read.remove !== undefined && read.replace !== 'true')
      faults.push({ parameter: 'remove', value: String(read.remove), rule: 'combined with replace=true' });
    const given = read.columns as string | undefined;
    columns = given === undefined || given === savedMapping ? given : readMapping(given, faults);
    return faults;
  });
  const flags = Object.fromEntries(flagNames.map((name) => [name, values[name] === 'true'])) as LoadFlags;
  return { flags, remove: values.remove as number | undefined, columns };
}

/** Parses a mapping of columns; adds a fault if it cannot be used. */
function readMapping(text: string, faults: Fault[]): ColumnMapping | undefined {
  try {
    return parseMapping(text);
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    const rule = `${ruleOf(loadParameters.columns)}: ${error.rule}`;
    faults.push({ parameter: 'columns', value: shorten(text), rule });
    return undefined;
  }
}

export interface LoadAuthorization {
  readonly store: Store;
  /** Checks the `Authorization` header of a client for the scope `subscription:write`. */
  readonly authorizeWrite: (header: string | undefined) => Promise<Access>;
}

/**
 * Authorizes a load into the tenant with this name: an operator's token may load into any tenant, a
 * client's only into its own. Every other tenant gets 404, whether it exists or not.
 */
export async function authorizeLoad(
  { store, authorizeWrite }: LoadAuthorization,
  authorizeOperator: AuthorizeOperator,
  request: FastifyRequest,
  name: string,
): Promise<LoadAccess> {
  const { authorization } = request.headers;
  if (isOperatorHeader(authorization)) return authorizeOperatorLoad(store, authorizeOperator, request, name);
  request.access = await authorizeWrite(authorization);
  const { tenant, clientId } = request.access;
  if (tenant !== name) {
    throw new RequestError(
      'NOT_FOUND',
      'Cannot find the tenant: it must be the one whose client the access token was issued to',
    );
  }
  return { tenant, actor: { kind: 'client', clientId, address: request.ip }, callerId: clientId };
}

export async function authorizeOperatorLoad(
  store: Store,
  authorize: AuthorizeOperator,
  request: FastifyRequest,
  name: string,
): Promise<LoadAccess> {
  const operator = await authorize(request, 'subscription:write');
  request.operator = operator;
  readPath(request.params);
  const tenant = await requireTenant(store, name).catch(rejectAction);
  return { tenant, actor: actorOf(operator, request.ip), callerId: operator.id };
}
