import { type ChangeKey, readChanges } from '../storage/read/changes.ts';
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
import type { ChangesQuery } from './changes-query.ts';
import { ReportError } from './error.ts';
import type { FormattedReport } from './format.ts';
import { formatChanges } from './format-changes.ts';
import type { ReportContext } from './report-context.ts';
import { startStages, type Timings } from './stage-timer.ts';

/** Some changes as they go on the wire, with how long each stage after the parsing took. */
interface TimedChanges extends FormattedReport {
  /** The tenant's revision that they lead to. */
  readonly revision: number;
  readonly timings: Timings;
}

/**
 * Everything that an answer depends on but the tenant and its revision: equal keys are equal
 * answers.
 */
export function changesKey({ reportUrl }: ReportContext, query: ChangesQuery): readonly unknown[] {
  return ['changes', reportUrl, query];
}

/**
 * Answers `GET /v1/subscription/changes`: what changed after a token, in the order of the changes,
 * as it was at one moment of the store, and the token to go on from. Fails with `ReportError`
 * `RESYNC_REQUIRED` when the token is none of this tenant's history, and with `StorageError` when
 * the store is at fault.
 */
export async function listChanges(
  { store, reportUrl }: ReportContext,
  tenant: TenantId,
  query: ChangesQuery,
): Promise<TimedChanges> {
  const stages = startStages();
  const from = query.since?.key ?? firstChangeKey;
  const [history, read] = await store.readTenant(
    tenant,
    (reader) => Promise.all([readHistory(reader), readChanges(reader, from, query.size + 1)]),
    { isBounded: true },
  );
  stages.end('run');
  if (query.since !== undefined) requireOwnToken(query.since, tenant, history);
  const hasMore = read.length > query.size;
  const changes = read.slice(0, query.size);
  const { revision, id } = changes.at(-1) ?? from;
  const key = hasMore ? { revision, id } : keyBehind(history.revision);
  const next = writeToken(tenant, history, key, query.since);
  const report = formatChanges(query, { changes, next, hasMore }, reportUrl);
  stages.end('format');
  return { ...report, revision: history.revision, timings: stages.timings };
}

/**
 * The token of a key. While a reader that began without a token walks through old revisions, its
 * copy holds no removed record all the same, and the token says so: else it would be refused like
 * the token of an old copy. A token of a tenant whose tombstones are complete needs no such word,
 * and older versions of this program could not read it.
 */
function writeToken(tenant: TenantId, history: TenantHistory, key: ChangeKey, since: ChangeToken | undefined): string {
  const clean = since === undefined ? history.revision : cleanRevisionOf(since);
  const position = { key, ...(history.sweptRevision > 0 && clean >= key.revision && { cleanRevision: clean }) };
  return encodeChangeToken({ ...position, fingerprint: historyFingerprint(tenant, history, position) });
}

/**
 * Throws unless a token was given for this history, the history has come as far (a restored backup
 * has not), and all tombstones that its reader has not seen are still there.
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
