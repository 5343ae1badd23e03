import type { SqlValue, TenantStatement } from '../store.ts';

/** How long opening a connection waits for another process's lock, in milliseconds. */
export const sqliteOpenWaitMs = 5_000;

/** The start data of a reader thread. */
export interface ReaderStart {
  readonly file: string;
  /** Shared with the main thread; nonzero when the running statement must be aborted. */
  readonly interrupted: Int32Array<SharedArrayBuffer>;
}

/**
 * A request to a reader thread; `values` already include the tenant for `$1`. A session is one
 * snapshot of the store.
 */
export type ReadRequest =
  | { readonly kind: 'once'; readonly statements: readonly TenantStatement[] }
  | { readonly kind: 'begin' | 'next' | 'end'; readonly session: number }
  | { readonly kind: 'all'; readonly session: number; readonly sql: string; readonly values: readonly SqlValue[] }
  | {
      readonly kind: 'stream';
      readonly session: number;
      readonly sql: string;
      readonly values: readonly SqlValue[];
      readonly batchRows: number;
    };
