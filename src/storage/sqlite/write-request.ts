import type { ResumePoint, TenantId } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';

/** The start data of the writer thread. */
export interface WriterStart {
  readonly file: string;
}

/** A change to one tenant's subscriptions, in one transaction. */
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
  | { readonly kind: 'recount'; readonly tenant: TenantId; readonly nowSeconds: number };

/** A request to the writer thread. */
export type WriteRequest =
  | (TenantChange & {
      /** How long to wait for another process's write, in milliseconds. */
      readonly waitMs: number;
    })
  | { readonly kind: 'checkpoint' };

/** The next pause before retrying to take a lock that another process holds, in milliseconds. */
export const nextWaitMs = (waitMs: number): number => Math.min(waitMs * 2, 20);
