import type { ChangesSummary } from '../../packages/client/index.ts';
import type { PeriodReader } from '../../packages/console/report/changes/read-period.ts';

type Options = Parameters<PeriodReader['changes']>[1];

/**
 * A feed of removals, one at each revision from 1. The token of a revision is `t` and its number;
 * that of a walk from the newest one has the revision to go on below, too.
 */
export function feedOf(given: readonly string[]) {
  const removed = given.map((id, index) => ({ id, revision: index + 1 }));
  const asked: Options[] = [];
  const numberIn = (token: string): number => Number(/^t(\d+)/.exec(token)?.[1] ?? 0);
  return {
    asked,
    add: (id: string): void => void removed.push({ id, revision: removed.length + 1 }),
    async *changes(since: string, options: Options) {
      asked.push(options);
      const { size = 1_000, order } = options;
      const [, below] = since.split('<');
      const isNewest = order === 'newest' || below !== undefined;
      const later = removed.filter(
        ({ revision }) => revision > numberIn(since) && revision < Number(below ?? Number.MAX_VALUE),
      );
      const page = (isNewest ? later.toReversed() : later).slice(0, size);
      const hasMore = page.length < later.length;
      const at = page.at(-1)?.revision ?? 0;
      const next = hasMore ? (isNewest ? `t${numberIn(since)}<${at}` : `t${at}`) : `t${removed.length}`;
      yield {
        changes: page.map(({ id }) => ({ id, removed: true as const, kind: 'removed' as const })),
        next,
        hasMore,
        revision: removed.length,
      };
    },
    async changesSummary(since: string, { until = removed.length }: { readonly until?: number | undefined }) {
      const total = removed.filter(({ revision }) => revision > numberIn(since) && revision <= until).length;
      const by = { status: [], 'product-id': [], 'auto-renew': [], day: [], import: [] };
      const kinds = { added: 0, changed: 0, removed: total, renewed: 0 };
      const omitted = { status: 0, 'product-id': 0, import: 0 };
      const revisions = { since_revision: numberIn(since), revision: until };
      return { total, ...kinds, by, omitted, ...revisions, next: `t${until}` } satisfies ChangesSummary;
    },
    present: async (): Promise<string> => `t${removed.length}`,
  };
}
