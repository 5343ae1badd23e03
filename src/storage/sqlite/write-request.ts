import type { ResumePoint, TenantId } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';

/** What the writer thread begins with. */
export interface WriterStart {
  readonly file: string;
}

/** A change of one tenant's subscriptions, in one transaction. */
export type TenantChange =
  | {
      readonly kind: 'load';
      readonly tenant: TenantId;
      readonly rows: readonly SubscriptionRow[];
      readonly resumePoint: ResumePoint | 'finished' | undefined;
    }
  | { readonly kind: 'delete'; readonly tenant: TenantId; readonly ids: readonly string[] }
  | { readonly kind: 'erase'; readonly tenant: TenantId; readonly limit: number }
  | { readonly kind: 'sweep'; readonly tenant: TenantId; readonly revision: number; readonly limit: number }
  | { readonly kind: 'recount'; readonly tenant: TenantId };

/** What the writer thread is asked for. */
export type WriteRequest =
  | (TenantChange & {
      /** Longest wait for another process's write, in milliseconds. */
      readonly waitMs: number;
    })
  | { readonly kind: 'checkpoint' };

/**
 * The next pause between two attempts to take the lock that another process holds, in milliseconds.
 */
export const nextWaitMs = (waitMs: number): number => Math.min(waitMs * 2, 20);
