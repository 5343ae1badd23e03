import type { SqlValue, TenantStatement } from '../store.ts';

/** Longest wait for another process while a connection opens, in milliseconds. */
export const sqliteOpenWaitMs = 5_000;

/** What a reader thread begins with. */
export interface ReaderStart {
  readonly file: string;
  /** Shared with the main thread: not 0 when the statement under way must end. */
  readonly interrupted: Int32Array<SharedArrayBuffer>;
}

/**
 * What a reader thread is asked for; `$1` is bound in `values` already. A session is one moment of
 * the store.
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
