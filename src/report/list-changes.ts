import { sinceNow } from '../contract/change.ts';
import { operations } from '../contract/operations.ts';
import { reportFormats } from '../contract/report.ts';
import { type ChangeKey, readChanges, type SubscriptionChange } from '../storage/read/changes.ts';
import type { TenantId } from '../storage/store.ts';
import { readHistory, type TenantHistory } from '../storage/tables/history.ts';
import {
  type ChangeToken,
  cleanRevisionOf,
  encodeChangeToken,
  firstChangeKey,
  historyFingerprint,
  keyBehind,
} from './change-token.ts';
import { ReportError } from './error.ts';
import type { FormattedReport } from './format.ts';
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
  { store, reportUrl }: ReportContext,
  tenant: TenantId,
  query: ChangesQuery,
  stages: StageTimer = createStages(),
): Promise<TimedChanges> {
  const isNow = query.since === sinceNow;
  const since = query.since === sinceNow ? undefined : query.since;
  const from = since?.key ?? firstChangeKey;
  const [history, read] = await stages.run('run', () =>
    store.readTenant(
      tenant,
      (reader) => Promise.all([readHistory(reader), isNow ? [] : readChanges(reader, from, query.size + 1)]),
      { isBounded: true },
    ),
  );
  if (since !== undefined) requireOwnToken(since, tenant, history);
  const hasMore = read.length > query.size;
  const changes = read.slice(0, query.size);
  const { revision, id } = changes.at(-1) ?? from;
  const key = hasMore ? { revision, id } : keyBehind(history.revision);
  const next = writeToken(tenant, history, key, since);
  const report = stages.run('format', () => formatChanges(query, { changes, next, hasMore }, reportUrl));
  return { ...report, revision: history.revision, timings: stages.timings };
}

/**
 * Encodes the token of a key. A client that started without a token has no removed records, even
 * while it reads old revisions; the token says so, or it would be rejected like one of an old copy.
 * While no tombstone of the tenant was removed, the token does not need that field, which older
 * versions cannot read.
 */
function writeToken(tenant: TenantId, history: TenantHistory, key: ChangeKey, since: ChangeToken | undefined): string {
  const clean = since === undefined ? history.revision : cleanRevisionOf(since);
  const position = { key, ...(history.sweptRevision > 0 && clean >= key.revision && { cleanRevision: clean }) };
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
  readonly changes: readonly SubscriptionChange[];
  readonly next: string;
  readonly hasMore: boolean;
}

/**
 * Formats changes: the stored JSON of records, tombstones, and the following token, as one JSON
 * object or, in NDJSON, on the last line. If there are more changes already, links lead to them.
 */
function formatChanges(
  { format, size }: ChangesQuery,
  { changes, next, hasMore }: ChangesToWrite,
  reportUrl: string,
): FormattedReport {
  const texts = changes.map(({ id, record }) => record ?? JSON.stringify({ id, removed: true }));
  const end = `"next":${JSON.stringify(next)},"has_more":${hasMore}}`;
  const url = `${reportUrl}${belowReport}?since=${next}&size=${size}`;
  return {
    body: format === 'json' ? `{"changes":[${texts.join(',')}],${end}` : [...texts, `{${end}`, ''].join('\n'),
    headers: {
      'content-type': reportFormats[format].contentType,
      ...(hasMore && { 'x-next-page': url, link: `<${url}>; rel="next"` }),
    },
  };
}

/** Path of the changes, relative to the report. */
const belowReport = operations.listSubscriptionChanges.path.slice(operations.listSubscriptions.path.length);
