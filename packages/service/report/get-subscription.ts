import { versionsMax } from '../../contract/history.ts';
import { formatInstant } from '../../contract/instant.ts';
import { fitsText } from '../../contract/schema.ts';
import { SubscriptionId } from '../../contract/subscription.ts';
import { type RecordVersion, readPastRecord, readVersions } from '../storage/read/past.ts';
import { readRecord } from '../storage/read/records.ts';
import type { Store, TenantId, TenantReader } from '../storage/store.ts';
import { readHistory } from '../storage/tables/history.ts';
import { readRevision } from '../storage/tables/tenant-revision.ts';
import { ReportError } from './error.ts';
import { readTenant, requireRevision, settle } from './moment.ts';
import type { parseOne } from './parse-one.ts';
import type { ReportContext } from './report-query.ts';
import { createSelection } from './select-fields.ts';

/** One record, and the tenant's revision at which it was read. */
interface OneSubscription {
  /** Its stored JSON, or its versions as JSON. */
  readonly record: string;
  readonly revision: number;
}

/**
 * Implements `GET /v1/subscription/{id}`: returns the stored JSON of one record, or some fields of
 * it, as it is or as it was. Throws `ReportError` `NOT_FOUND`, the same for an unknown id and for
 * another tenant's.
 */
export async function getSubscription(
  { store, now }: ReportContext,
  tenant: TenantId,
  id: string,
  { asOf, fields }: ReturnType<typeof parseOne> = {},
): Promise<OneSubscription> {
  const moment = await settle(store, tenant, asOf, { nowSeconds: now() });
  const read = async (reader: TenantReader): Promise<OneSubscription | undefined> => {
    if (moment === undefined) {
      const [record, revision] = await Promise.all([readRecord(reader, id), readRevision(reader)]);
      return record === undefined ? undefined : { record, revision };
    }
    const at = await requireRevision(reader, moment);
    const record = await readPastRecord(reader, id, at.revision);
    return record === undefined ? undefined : { record, revision: at.current };
  };
  const found = await findOne(store, tenant, id, read);
  return fields === undefined ? found : { ...found, record: createSelection(fields)(found.record) };
}

/**
 * Implements `GET /v1/subscription/{id}/history`: returns the kept versions of one record as JSON.
 * Throws `ReportError` `NOT_FOUND` if neither the record nor a trace of it is there.
 */
export async function getSubscriptionHistory(
  { store }: ReportContext,
  tenant: TenantId,
  id: string,
): Promise<OneSubscription> {
  return findOne(store, tenant, id, async (reader) => {
    const { revision, kept } = await readHistory(reader);
    const read = await readVersions(reader, id, kept?.from ?? revision, versionsMax + 1);
    if (read.length === 0) return undefined;
    const versions = read.slice(0, versionsMax).map(formatVersion).join(',');
    const hasMore = read.length > versionsMax;
    return { record: `{"id":${JSON.stringify(id)},"versions":[${versions}],"has_more":${hasMore}}`, revision };
  });
}

function formatVersion({ revision, committedSeconds, importId, record, isErased }: RecordVersion): string {
  const members = {
    revision,
    ...(committedSeconds !== undefined && { committed_at: formatInstant(committedSeconds) }),
    ...(importId !== undefined && { import_id: importId }),
  };
  const what = record !== undefined ? `"record":${record}` : `"${isErased ? 'erased' : 'removed'}":true`;
  return `${JSON.stringify(members).slice(0, -1)},${what}}`;
}

/** Reads something of one record; `NOT_FOUND` is the same for every reason. */
async function findOne(
  store: Store,
  tenant: TenantId,
  id: string,
  read: (reader: TenantReader) => Promise<OneSubscription | undefined>,
): Promise<OneSubscription> {
  const found = fitsText(SubscriptionId, id) ? await readTenant(store, tenant, read, { isBounded: true }) : undefined;
  if (found !== undefined) return found;
  throw new ReportError('NOT_FOUND', [
    'Cannot find the subscription: its id must be that of one of your subscriptions',
  ]);
}
