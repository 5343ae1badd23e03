import type { ReplaceCounts, Replacement, TenantId } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';
import { SqliteThread } from './thread.ts';

/** A request to the thread of a replacement. */
export type ReplacementRequest =
  | { readonly kind: 'add'; readonly rows: readonly SubscriptionRow[] }
  | { readonly kind: 'finish'; readonly dryRun: boolean };

/** The start data of the thread. */
export interface ReplacementStart {
  readonly file: string;
  readonly tenant: TenantId;
}

/**
 * Opens a replacement on the embedded store in its own thread: the final comparison takes seconds,
 * during which the main thread keeps serving requests.
 */
export function openSqliteReplacement(file: string, tenant: TenantId): Replacement {
  const start: ReplacementStart = { file, tenant };
  const thread = new SqliteThread<ReplacementRequest>(new URL('./replacement-thread.ts', import.meta.url), start);
  return {
    add: (rows) => thread.request({ kind: 'add', rows }),
    finish: (dryRun) => thread.request<ReplaceCounts>({ kind: 'finish', dryRun }),
    close: () => thread.end(),
  };
}
