import { sinceNow } from '../contract/change.ts';
import type { ChangeKind } from '../contract/history.ts';
import { formatInstant } from '../contract/instant.ts';
import { operations } from '../contract/operations.ts';
import { reportFormats } from '../contract/report.ts';
import {
  type ChangeKey,
  type DescribedChange,
  readChanges,
  readDescribedChanges,
  type SubscriptionChange,
} from '../storage/read/changes.ts';
import type { SettledMoment } from '../storage/read/past.ts';
import type { TenantId, TenantReader } from '../storage/store.ts';
import { readHistory, type TenantHistory } from '../storage/tables/history.ts';
import {
  baseOf,
  type ChangeToken,
  cleanRevisionOf,
  encodeChangeToken,
  firstChangeKey,
  historyFingerprint,
  keyBehind,
} from './change-token.ts';
import { ReportError } from './error.ts';
import type { FormattedReport } from './format.ts';
import { describeMoment, type FoundRevision, notKept, readTenant, requireRevision, settle } from './moment.ts';
import type { ChangesQuery } from './parse-changes.ts';
import type { ReportContext } from './report-query.ts';
import { createStages, type StageTimer, type Timings } from './stage-timer.ts';

/** Formatted changes, with the duration of each stage after parsing. */
interface TimedChanges extends FormattedReport {
  /** The tenant's revision after these changes. */
  readonly revision: number;
  readonly timings: Timings;
}

/** The cache key of a response, apart from the tenant and its revision. */
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
): Promise<TimedChanges> {
  const { history, start, read, hasMore } = await stages.run('run', async () => {
    const { since } = query;
    const instant = typeof since === 'object' && 'seconds' in since ? since : undefined;
    const moment = await settle(store, tenant, instant, { nowSeconds: now(), parameter: 'since' });
    return readTenant(store, tenant, (reader) => readPage(reader, tenant, query, moment), { isBounded: true });
  });
  const { revision: lastRevision, id } = read.at(-1) ?? start.key;
  const key = hasMore ? { revision: lastRevision, id } : keyBehind(history.revision);
  const next = writeToken(tenant, history, key, { ...start, isDescribed: hasMore && isDescribed(query) });
  const changes = read.flatMap((change) => writeChange(query, change));
  const { revision } = history;
  const report = stages.run('format', () => formatChanges(query, { changes, next, hasMore, revision }, reportUrl));
  return { ...report, revision, timings: stages.timings };
}

/** Where a page of changes begins. */
interface Start {
  readonly key: ChangeKey;
  /** The revision that the changes are described by; -1 is before all records. */
  readonly base: number;
  /** The revision up to which the client's copy contains no removed record. */
  readonly clean: number;
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
  const { since = { key: firstChangeKey }, size } = query;
  const isPlain = !isDescribed(query) && since !== sinceNow && 'key' in since;
  const [history, plain] = await Promise.all([
    readHistory(reader),
    isPlain ? readChanges(reader, since.key, size + 1) : undefined,
  ]);
  const start =
    moment === undefined
      ? findStart(tenant, history, query)
      : startAt(await requireRevision(reader, moment, 'since'), moment);
  const read = plain ?? (since === sinceNow ? [] : await readFrom(reader, start, query));
  return { history, start, read: read.slice(0, size), hasMore: read.length > size };
}

const readFrom = (reader: TenantReader, { key, base }: Start, query: ChangesQuery) =>
  isDescribed(query)
    ? readDescribedChanges(reader, key, base, query.size + 1)
    : readChanges(reader, key, query.size + 1);

/**
 * Throws `ReportError` unless all changes after the start still exist and, if they are described,
 * also the records at the revision that describes them.
 */
function findStart(tenant: TenantId, history: TenantHistory, query: ChangesQuery): Start {
  const { since } = query;
  if (typeof since !== 'object' || !('key' in since)) return { key: firstChangeKey, base: -1, clean: history.revision };
  requireOwnToken(since, tenant, history);
  const base = baseOf(since);
  const isKept = base === -1 || base === history.revision || (history.kept !== undefined && base >= history.kept.from);
  if (isDescribed(query) && !isKept) throw notKept(history, sinceValue(`revision ${base}`));
  return { key: since.key, base, clean: cleanRevisionOf(since) };
}

/** Where the changes since an instant begin. Throws `ReportError` unless all of them still exist. */
function startAt({ revision, history }: FoundRevision, moment: SettledMoment): Start {
  if (revision < history.sweptRevision) throw notKept(history, sinceValue(describeMoment(moment)));
  return { key: keyBehind(revision), base: revision, clean: revision };
}

const sinceValue = (value: string) => ({ parameter: 'since', value });

/** Whether a response needs to know what the records were. */
const isDescribed = ({ before, kinds }: ChangesQuery): boolean => before || kinds !== undefined;

/**
 * Formats a change; nothing for one of another kind. A record that was added and removed since is
 * no change.
 */
function writeChange(
  { before: isAsked, kinds }: ChangesQuery,
  change: SubscriptionChange | DescribedChange,
): readonly string[] {
  const { id, record } = change;
  const text = record ?? JSON.stringify({ id, removed: true });
  if (!('wasAbsent' in change)) return [text];
  const { before, wasAbsent, committedSeconds, importId } = change;
  if (record === undefined && wasAbsent) return [];
  const kind: ChangeKind = record === undefined ? 'removed' : before === undefined ? 'added' : 'changed';
  if (kinds !== undefined && !kinds.includes(kind)) return [];
  if (!isAsked) return [text];
  const at = committedSeconds === undefined ? '' : `,"committed_at":"${formatInstant(committedSeconds)}"`;
  const by = importId === undefined ? '' : `,"import_id":"${importId}"`;
  return [`${text.slice(0, -1)},"kind":"${kind}"${at}${by}${before === undefined ? '' : `,"before":${before}`}}`];
}

/**
 * Encodes the token of a key. A client that started without a token has no removed records, even
 * while it reads old revisions; the token says so, or it would be rejected like one of an old copy.
 * While no tombstone of the tenant was removed, the token does not need that field, which older
 * versions cannot read.
 */
function writeToken(
  tenant: TenantId,
  history: TenantHistory,
  key: ChangeKey,
  { base, clean, isDescribed: keepsBase }: Start & { readonly isDescribed: boolean },
): string {
  const position = {
    key,
    ...(history.sweptRevision > 0 && clean >= key.revision && { cleanRevision: clean }),
    ...(keepsBase && { base }),
  };
  return encodeChangeToken({ ...position, fingerprint: historyFingerprint(tenant, history, position) });
}

/**
 * Throws unless the token is of this history, the history has reached its revision (a restored
 * backup may not have), and all later tombstones still exist.
 */
function requireOwnToken(token: ChangeToken, tenant: TenantId, history: TenantHistory): void {
  const { key, fingerprint } = token;
  const { revision, id } = keyBehind(history.revision);
  const isAhead = key.revision > revision || (key.revision === revision && key.id > id);
  const isSwept = cleanRevisionOf(token) < history.sweptRevision;
  if (!isAhead && !isSwept && fingerprint === historyFingerprint(tenant, history, token)) return;
  const rule =
    'a token of the current records of the service; read everything again, without since, into an empty copy';
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
  { format, size, before, kinds }: ChangesQuery,
  { changes: texts, next, hasMore, revision }: ChangesToWrite,
  reportUrl: string,
): FormattedReport {
  const described = `${before ? '&before=true' : ''}${kinds === undefined ? '' : `&kind=${kinds.join(',')}`}`;
  const end = `"next":${JSON.stringify(next)},"has_more":${hasMore}}`;
  const url = `${reportUrl}${belowReport}?since=${next}&size=${size}${described}`;
  return {
    body: format === 'json' ? `{"changes":[${texts.join(',')}],${end}` : [...texts, `{${end}`, ''].join('\n'),
    headers: {
      'content-type': reportFormats[format].contentType,
      'x-revision': String(revision),
      ...(hasMore && { 'x-next-page': url, link: `<${url}>; rel="next"` }),
    },
  };
}

/** Path of the changes, relative to the report. */
const belowReport = operations.listSubscriptionChanges.path.slice(operations.listSubscriptions.path.length);
