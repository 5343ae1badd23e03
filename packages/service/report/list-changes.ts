import { type ChangedField, sinceNow, withoutImport } from '../../contract/change.ts';
import { type ChangeKind, changeKinds } from '../../contract/history.ts';
import { formatInstant } from '../../contract/instant.ts';
import { operations } from '../../contract/operations.ts';
import { reportFormats } from '../../contract/report.ts';
import { readStatusFilter } from '../../contract/subscription.ts';
import {
  type ChangeFilter,
  type ChangeKey,
  type ChangeRange,
  type DescribedChange,
  readChanges,
  readDescribedChanges,
  type SubscriptionChange,
} from '../storage/read/changes.ts';
import type { SettledMoment } from '../storage/read/past.ts';
import type { Store, TenantId, TenantReader } from '../storage/store.ts';
import { readHistory, type TenantHistory } from '../storage/tables/history.ts';
import {
  baseOf,
  type ChangeToken,
  cleanRevisionOf,
  encodeChangeToken,
  firstChangeKey,
  historyFingerprint,
  keyBehind,
  type NewestWalk,
} from './change-token.ts';
import { ReportError } from './error.ts';
import { type FormattedReport, filtersMax, linksFit, requireRoom } from './format.ts';
import type { TimedReport } from './list-subscriptions.ts';
import { describeMoment, notKept, readTenant, requireRevision, settle } from './moment.ts';
import type { ChangesQuery } from './parse-changes.ts';
import type { ReportContext } from './report-query.ts';
import { createSelection } from './select-fields.ts';
import { createStages, type StageTimer } from './stages.ts';

/** What the entity tag of the changes depends on, apart from the tenant and its revision. */
export function changesKey({ reportUrl }: ReportContext, query: ChangesQuery): string {
  return JSON.stringify(['changes', reportUrl, query]);
}

/**
 * Implements `GET /v1/subscription/changes`: returns the changes after a token, in their order and
 * from one snapshot, with the following token. Throws `ReportError` `RESYNC_REQUIRED` if the token
 * is not of this tenant's history, and `StorageError` if the store fails.
 */
export async function listChanges(
  { store, reportUrl, now }: ReportContext,
  tenant: TenantId,
  query: ChangesQuery,
  stages: StageTimer = createStages(),
): Promise<TimedReport> {
  const max = filtersMax(1, reportUrl.length + belowReport.length + longestPosition);
  requireRoom(describeQuery(query), max, 'so ask for fewer fields');
  const isBounded = filterOf(query) === undefined;
  const { history, start, read, hasMore } = await stages.run('run', async () => {
    const moment = await settleSince(store, tenant, query.since, now());
    return readTenant(store, tenant, (reader) => readPage(reader, tenant, query, moment), { isBounded });
  });
  const { revision } = history;
  const next = writeNext(tenant, history, query, { start, last: hasMore ? (read.at(-1) ?? start.key) : undefined });
  const select = query.fields === undefined ? String : createSelection(query.fields);
  const changes = read.flatMap((change) => writeChange(query, change, select));
  const report = stages.run('format', () => formatChanges(query, { changes, next, hasMore, revision }, reportUrl));
  return { ...report, revision, timings: stages.timings };
}

/** The token to continue from: after the last change of the page, or after all of them. */
function writeNext(
  tenant: TenantId,
  history: TenantHistory,
  query: ChangesQuery,
  { start, last }: { readonly start: Start; readonly last: ChangeKey | undefined },
): string {
  const { newest, base, began, clean } = start;
  if (last === undefined) {
    const end = newest?.top ?? history.revision;
    // a walk from the newest change misses what changes again before it is read: the next walk
    // tells it, compared with the same base
    const isMissed = isDescribed(query) && history.revision > end;
    const walk = { base, began, clean: newest ? end : clean, isDescribed: isMissed };
    return writeToken(tenant, history, keyBehind(end), walk);
  }
  const { revision, id } = last;
  if (newest === undefined)
    return writeToken(tenant, history, { revision, id }, { base, began, clean, isDescribed: isDescribed(query) });
  const position = { key: { revision, id }, base, cleanRevision: clean, newest };
  return encodeChangeToken({ ...position, fingerprint: historyFingerprint(tenant, history, position) });
}

/** Where a page of changes begins. */
interface Start {
  readonly key: ChangeKey;
  /** The revision that the changes are described by; -1 is before all records. */
  readonly base: number;
  /** The revision at which the walk began; -1 if that is unknown. */
  readonly began: number;
  /** The revision up to which the client's copy contains no removed record. */
  readonly clean: number;
  /** Of a walk from the newest change: `key` is then the end of what is left of it. */
  readonly newest?: NewestWalk;
}

/** The changes of a page, and whether there are more. */
interface ReadPage {
  readonly history: TenantHistory;
  readonly start: Start;
  readonly read: readonly (SubscriptionChange | DescribedChange)[];
  readonly hasMore: boolean;
}

/** `moment` is the instant in `since`, if there is one. */
async function readPage(
  reader: TenantReader,
  tenant: TenantId,
  query: ChangesQuery,
  moment: SettledMoment | undefined,
): Promise<ReadPage> {
  const { since = { key: firstChangeKey }, size, order } = query;
  const isPlain = order === 'oldest' && !isDescribed(query) && since !== sinceNow && 'key' in since;
  const [history, plain] = await Promise.all([
    readHistory(reader),
    isPlain ? readChanges(reader, { after: since.key, newestFirst: false, limit: size + 1 }) : undefined,
  ]);
  const start = await findStart(reader, tenant, history, query, moment);
  const read = plain ?? (since === sinceNow ? [] : await readFrom(reader, history, start, query));
  return { history, start, read: read.slice(0, size), hasMore: read.length > size };
}

function readFrom(
  reader: TenantReader,
  history: TenantHistory,
  { key, base, began, newest }: Start,
  query: ChangesQuery,
): Promise<readonly (SubscriptionChange | DescribedChange)[]> {
  const range: ChangeRange = {
    newestFirst: newest !== undefined,
    limit: query.size + 1,
    ...(newest === undefined ? { after: key } : { after: newest.floor, before: key }),
  };
  if (!isDescribed(query)) return readChanges(reader, range);
  const walk = { base, began: isReadable(history, began) ? began : -1 };
  return readDescribedChanges(reader, range, walk, filterOf(query));
}

const columnOf = {
  status: 'status',
  'product-id': 'product_id',
  'auto-renew': 'auto_renew',
  renewal: 'expiration_date',
} as const satisfies Record<ChangedField, ChangeFilter['field']>;

/** Which changes the store selects; `undefined` if it is all of them. */
function filterOf({ kinds, field, from, to, importId }: ChangesQuery): ChangeFilter | undefined {
  if ([kinds, field, importId].every((given) => given === undefined)) return undefined;
  const wanted = (text: string | undefined) =>
    field === 'status' && text !== undefined ? readStatusFilter(text) : text;
  return {
    kinds: kinds ?? (field === undefined ? changeKinds : ['changed']),
    field: field && columnOf[field],
    from: wanted(from),
    to: wanted(to),
    importId: importId === withoutImport ? null : importId,
  };
}

/**
 * Throws `ReportError` unless all changes after the start still exist and, if they are described,
 * also the records at the revision that describes them.
 */
async function findStart(
  reader: TenantReader,
  tenant: TenantId,
  history: TenantHistory,
  query: ChangesQuery,
  moment: SettledMoment | undefined,
): Promise<Start> {
  const { since } = query;
  const { revision } = history;
  const beginning: Start = { key: firstChangeKey, base: -1, began: revision, clean: revision };
  if (since === sinceNow) return beginning;
  const start = since === undefined ? beginning : await findPeriodStart(reader, tenant, { history, since, moment });
  const { base } = start;
  const isKept = base === -1 || isReadable(history, base);
  if (isDescribed(query) && !isKept) throw notKept(history, sinceValue(`revision ${base}`));
  if (query.order === 'oldest' || start.newest !== undefined) return start;
  const top = history.revision;
  return { ...start, key: keyBehind(top), newest: { floor: start.key, top } };
}

/** Whether records can be read as they were at a revision. */
export const isReadable = ({ revision, kept }: TenantHistory, base: number): boolean =>
  base === revision || (kept !== undefined && base >= kept.from);

/** The start of a period: a change token, or an instant, which must be settled. */
interface PeriodStart {
  readonly history: TenantHistory;
  readonly since: ChangeToken | { readonly seconds: number };
  readonly moment: SettledMoment | undefined;
}

/** Settles the instant in `since`, if there is one, before the snapshot is opened. */
export const settleSince = (
  store: Store,
  tenant: TenantId,
  since: ChangesQuery['since'],
  nowSeconds: number,
): Promise<SettledMoment | undefined> =>
  settle(store, tenant, typeof since === 'object' && 'seconds' in since ? since : undefined, {
    nowSeconds,
    parameter: 'since',
  });

/**
 * Where the changes after a token or an instant begin. Throws `ReportError` unless all of them
 * still exist.
 */
export async function findPeriodStart(
  reader: TenantReader,
  tenant: TenantId,
  { history, since, moment }: PeriodStart,
): Promise<Start> {
  if ('seconds' in since) {
    const { revision } = await requireRevision(reader, moment, 'since');
    if (revision < history.sweptRevision) throw notKept(history, sinceValue(describeMoment(since)));
    return { key: keyBehind(revision), base: revision, began: history.revision, clean: revision };
  }
  requireOwnToken(since, tenant, history);
  const { key, newest } = since;
  const base = baseOf(since);
  const floor = newest?.floor ?? key;
  // a token within a revision says of which one the client's copy is only if it has a base
  const isFirst = floor.id === '' && floor.revision === base + 1;
  const began = since.began ?? (isFirst ? (newest?.top ?? history.revision) : -1);
  return { key, base, began, clean: cleanRevisionOf(since), ...(newest && { newest }) };
}

const sinceValue = (value: string) => ({ parameter: 'since', value });

/** Whether a response needs to know what the records were. */
const isDescribed = (query: ChangesQuery): boolean => query.before || filterOf(query) !== undefined;

/**
 * Formats a change; nothing for a record that was added and removed since, which is no change
 * unless an earlier page told that it was added.
 */
function writeChange(
  { before: isAsked, kinds }: ChangesQuery,
  change: SubscriptionChange | DescribedChange,
  select: (record: string) => string,
): readonly string[] {
  const { id, record } = change;
  const text = record === undefined ? JSON.stringify({ id, removed: true }) : select(record);
  if (!('isUndone' in change)) return [text];
  const { before, isUndone, committedSeconds, importId } = change;
  if (isUndone) return [];
  // of a list without changed records, it has returned after the list told that it was removed
  const isAdded = before === undefined || kinds?.includes('changed') === false;
  const kind: ChangeKind = record === undefined ? 'removed' : isAdded ? 'added' : 'changed';
  if (!isAsked) return [text];
  const at = committedSeconds === undefined ? '' : `,"committed_at":"${formatInstant(committedSeconds)}"`;
  const by = importId === undefined ? '' : `,"import_id":"${importId}"`;
  const members = text === '{}' ? '{' : `${text.slice(0, -1)},`;
  return [`${members}"kind":"${kind}"${at}${by}${before === undefined ? '' : `,"before":${select(before)}`}}`];
}

/**
 * Encodes the token of a key. A client that started without a token has no removed records, even
 * while it reads old revisions. The token records this; otherwise it would be rejected as the token
 * of an old copy.
 */
export function writeToken(
  tenant: TenantId,
  history: TenantHistory,
  key: ChangeKey,
  { base, began, clean, isDescribed: keepsBase }: Omit<Start, 'key'> & { readonly isDescribed: boolean },
): string {
  const position = {
    key,
    ...(clean >= key.revision && { cleanRevision: clean }),
    ...(keepsBase && { base, began }),
  };
  return encodeChangeToken({ ...position, fingerprint: historyFingerprint(tenant, history, position) });
}

/**
 * Throws unless the token is of this history, the history has reached its revision (a restored
 * backup may not have), and all later tombstones still exist.
 */
function requireOwnToken(token: ChangeToken, tenant: TenantId, history: TenantHistory): void {
  const { key, fingerprint, began, newest } = token;
  const { revision, id } = keyBehind(history.revision);
  const known = Math.max(began ?? 0, newest?.top ?? 0);
  const isAhead = key.revision > revision || (key.revision === revision && key.id > id) || known > history.revision;
  const isSwept = cleanRevisionOf(token) < history.sweptRevision;
  if (!isAhead && !isSwept && fingerprint === historyFingerprint(tenant, history, token)) return;
  const rule =
    "a token of the current records of the service; read everything again, without 'since', into an empty copy";
  throw new ReportError(
    'RESYNC_REQUIRED',
    [`Cannot continue from the token in 'since': it must be ${rule}`],
    [{ parameter: 'since', value: null, rule }],
  );
}

/** Changes, and the token of the position after them. */
interface ChangesToWrite {
  /** The JSON text of each. */
  readonly changes: readonly string[];
  readonly next: string;
  readonly hasMore: boolean;
  /** The revision of the snapshot. */
  readonly revision: number;
}

/**
 * Formats changes: the stored JSON of records, tombstones, and the following token, as one JSON
 * object or, in NDJSON, on the last line. If there are more changes already, links lead to them.
 */
function formatChanges(
  query: ChangesQuery,
  { changes: texts, next, hasMore, revision }: ChangesToWrite,
  reportUrl: string,
): FormattedReport {
  const { format, size } = query;
  const end = `"next":${JSON.stringify(next)},"has_more":${hasMore}}`;
  const url = `${reportUrl}${belowReport}?since=${next}&size=${size}${describeQuery(query)}`;
  return {
    body: format === 'json' ? `{"changes":[${texts.join(',')}],${end}` : [...texts, `{${end}`, ''].join('\n'),
    headers: {
      'content-type': reportFormats[format].contentType,
      'x-revision': String(revision),
      ...(hasMore && { 'x-next-page': url, ...(linksFit([url, url]) && { link: `<${url}>; rel="next"` }) }),
    },
  };
}

/** The other parameters of a query, for the links to its following pages. */
function describeQuery({ before, order, kinds, field, from, to, importId, fields }: ChangesQuery): string {
  const given = { field, from, to, 'import-id': importId, fields: fields?.join() };
  return [
    ...(before ? ['&before=true'] : []),
    ...(kinds === undefined ? [] : [`&kind=${kinds.join(',')}`]),
    ...(order === 'newest' ? ['&order=newest'] : []),
    ...Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [`&${name}=${encodeURIComponent(value)}`],
    ),
  ].join('');
}

/** Characters of `?since=`, the longest change token and `&size=1000`. */
const longestPosition = 825;

/** Path of the changes, relative to the report. */
const belowReport = operations.listSubscriptionChanges.path.slice(operations.listSubscriptions.path.length);
