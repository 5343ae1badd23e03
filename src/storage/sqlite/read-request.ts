import type { SqlValue, TenantStatement } from '../store.ts';

/** How long opening a connection waits for another process's lock, in milliseconds. */
export const sqliteOpenWaitMs = 5_000;

/** The start data of a reader thread. */
export interface ReaderStart {
  readonly file: string;
  /** Shared with the main thread; nonzero when the running statement must be aborted. */
  readonly interrupted: Int32Array<SharedArrayBuffer>;
}

/** A batch of a stream: the first `bytes` of `memory`, which is transferred between the threads. */
export interface TransferredBatch {
  readonly rows: number;
  readonly bytes: number;
  readonly memory: ArrayBuffer;
}

/**
 * A request to a reader thread; `values` already include the tenant for `$1`. A session is one
 * snapshot of the store.
 */
export type ReadRequest =
  | { readonly kind: 'once'; readonly statements: readonly TenantStatement[] }
  | { readonly kind: 'begin' | 'end'; readonly session: number }
  | {
      readonly kind: 'next';
      readonly session: number;
      /** Memory for the batch, if one is large enough; it is transferred to the thread. */
      readonly memory?: ArrayBuffer | undefined;
    }
  | { readonly kind: 'all'; readonly session: number; readonly sql: string; readonly values: readonly SqlValue[] }
  | {
      readonly kind: 'stream';
      readonly session: number;
      readonly sql: string;
      readonly values: readonly SqlValue[];
      readonly batchRows: number;
    };
