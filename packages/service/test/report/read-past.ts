import { exportSubscriptions } from '../../report/export-subscriptions.ts';
import { getSubscriptionSummary } from '../../report/get-subscription-summary.ts';
import { listChanges } from '../../report/list-changes.ts';
import { parseReport } from '../../report/parse.ts';
import { parseChanges } from '../../report/parse-changes.ts';
import { parseSummary } from '../../report/parse-summary.ts';
import type { ReportContext } from '../../report/report-query.ts';
import type { TenantId } from '../../storage/store.ts';

/** A change as `before=true` describes it. */
export interface Change {
  readonly id: string;
  readonly removed?: true;
  readonly kind: string;
  readonly before?: { readonly id: string; readonly status?: string };
  readonly committed_at?: string;
  readonly import_id?: string;
}

/** Reads reports, summaries and changes, of now and of the past. */
export function readerOfPast(context: ReportContext) {
  async function changesOf(tenant: TenantId, query: string) {
    const { body } = await listChanges(context, tenant, parseChanges(query, context, 'json'));
    return JSON.parse(String(body)) as { changes: Change[]; next: string; has_more: boolean };
  }
  return {
    async exported(tenant: TenantId, query: string, asOf?: number | string) {
      const past = asOf === undefined ? '' : `&as-of=${asOf}`;
      const asked = parseReport(`all=true&${query}${past}`, context, 'json');
      const report = await exportSubscriptions(context, tenant, asked, 10_000);
      let body = '';
      for await (const { bytes } of report.pieces) body += bytes.toString('utf8');
      await report.close();
      const { 'x-total-count': total, 'x-erased-count': erased = '0', 'x-revision': revision } = report.headers;
      return { body, total: Number(total), erased: Number(erased), revision: Number(revision) };
    },
    async summarised(tenant: TenantId, query: string, asOf?: number): Promise<string> {
      const asked = parseSummary(asOf === undefined ? query : `${query}&as-of=${asOf}`, context);
      return String((await getSubscriptionSummary(context.store, tenant, asked)).body);
    },
    async changesSince(tenant: TenantId, since: string | undefined, size: number): Promise<readonly Change[]> {
      const all: Change[] = [];
      for (let token = since; ; ) {
        const query = `size=${size}&before=true${token === undefined ? '' : `&since=${token}`}`;
        const { changes, next, has_more: hasMore } = await changesOf(tenant, query);
        all.push(...changes);
        if (!hasMore) return all;
        token = next;
      }
    },
    changesOf,
    tokenNow: async (tenant: TenantId): Promise<string> => (await changesOf(tenant, 'since=now')).next,
  };
}
