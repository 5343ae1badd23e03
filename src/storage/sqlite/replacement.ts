import type { ReplaceCounts, Replacement, TenantId } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';
import { SqliteThread } from './thread.ts';

/** What the thread of a replacement is asked for. */
export type ReplacementRequest =
  | { readonly kind: 'add'; readonly rows: readonly SubscriptionRow[] }
  | { readonly kind: 'finish'; readonly dryRun: boolean };

/** What the thread begins with. */
export interface ReplacementStart {
  readonly file: string;
  readonly tenant: TenantId;
}

/**
 * Opens a replacement on the embedded store, in a thread of its own: what it does at the end takes
 * seconds, in which this one goes on serving.
 */
export function openSqliteReplacement(file: string, tenant: TenantId): Replacement {
  const start: ReplacementStart = { file, tenant };
  const thread = new SqliteThread<ReplacementRequest>(new URL('./replacement-thread.ts', import.meta.url), start);
  return {
    add: (rows) => thread.ask({ kind: 'add', rows }),
    finish: (dryRun) => thread.ask<ReplaceCounts>({ kind: 'finish', dryRun }),
    close: () => thread.end(),
  };
}
