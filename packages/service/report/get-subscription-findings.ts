import type { SubscriptionFindings } from '../../contract/findings.ts';
import { formatInstant } from '../../contract/instant.ts';
import { reportFormats } from '../../contract/report.ts';
import { type Finding, readCommitted, readFindings } from '../storage/read/findings.ts';
import { countMatching } from '../storage/read/records.ts';
import type { TenantId, TenantReader } from '../storage/store.ts';
import { readRevision } from '../storage/tables/tenant-revision.ts';
import type { TimedReport } from './list-subscriptions.ts';
import { textAround } from './record-text.ts';
import type { ReportContext } from './report-query.ts';
import { createStages } from './stages.ts';

const hourSeconds = 3_600;

/**
 * The moment up to which an end has passed: the beginning of the hour, so that the response changes
 * once an hour at most while the records do not.
 */
export const findingsMoment = (nowSeconds: number): number => Math.floor(nowSeconds / hourSeconds) * hourSeconds;

const recordTexts = { productName: textAround('product.name'), productPeriod: textAround('product.period') };

/**
 * Implements `GET /v1/subscription/findings`: reads all of the tenant's records in one snapshot, so
 * the caller must bound how many run. `pauseMsMax` bounds the time between two statements. Throws
 * `StorageError` if the store fails or a deadline of it passes.
 */
export async function getSubscriptionFindings(
  { store }: Pick<ReportContext, 'store'>,
  tenant: TenantId,
  momentSeconds: number,
  pauseMsMax: number,
): Promise<TimedReport> {
  const stages = createStages();
  const snapshot = await store.openSnapshot(tenant, pauseMsMax);
  try {
    return await stages.run('run', async () => {
      const revision = await readRevision(snapshot);
      const total = await countMatching(snapshot, { dateColumn: 'created_date' });
      const findings = [];
      for (const found of await readFindings(snapshot, store.engine, momentSeconds, recordTexts))
        findings.push(await formatFinding(snapshot, found));
      const changed = await readCommitted(snapshot, revision);
      const body: SubscriptionFindings = {
        total,
        evaluated_at: formatInstant(momentSeconds),
        ...(changed !== undefined && { changed_at: formatInstant(changed) }),
        findings,
      };
      return {
        body: JSON.stringify(body),
        headers: {
          'content-type': reportFormats.json.contentType,
          'x-total-count': String(total),
          'x-revision': String(revision),
        },
        revision,
        timings: stages.timings,
      };
    });
  } finally {
    await snapshot.close();
  }
}

async function formatFinding(
  reader: TenantReader,
  { kind, count, since, examples }: Finding,
): Promise<SubscriptionFindings['findings'][number]> {
  const seconds = since === undefined || kind === 'active-past-end' ? since : await readCommitted(reader, since);
  return {
    kind,
    count,
    ...(seconds !== undefined && { since: formatInstant(seconds) }),
    examples: examples.map(({ ids, ...shared }) => ({ ...shared, ids: [...ids] })),
  };
}
