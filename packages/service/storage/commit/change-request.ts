import type { CountRequest } from '../counts/count-work.ts';
import type { Row } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';

/** Rows to insert, or to update where they differ from what is stored. */
export interface StoreRequest {
  readonly kind: 'store';
  readonly rows: readonly SubscriptionRow[];
  readonly revision: number;
  /** Whether former versions of changed records are kept. */
  readonly keepsHistory: boolean;
  /** Whether every row of the import was new so far: then none is looked up first. */
  readonly expectsNew: boolean;
}

/** How the statements that follow join the temporary tables of a staged load. */
export type Joins = 'all rows' | 'by key' | 'counts';

/**
 * A request of a change to its engine, about one tenant. Besides the requests of counting:
 * - `lock`: locks the tenant's row until the transaction ends; returns it as `selectRevision` does.
 * - `store`: returns a row for each row that was written, with its `number` in `rows`; if it was
 *   stored before, also the former values, as `toRemoved` reads them.
 * - `compare`: fills the tables `changed` and, unless the others are kept, `removed` of a
 *   staged load as of the tenant's revision; returns the number of rows of each, and their bytes.
 * - `staged`: the rows of a statement about these tables alone.
 * - `join`: only PostgreSQL acts on it.
 */
export type ChangeRequest =
  | CountRequest
  | StoreRequest
  | { readonly kind: 'lock' }
  | { readonly kind: 'compare'; readonly revision: number; readonly keepsOthers: boolean }
  | { readonly kind: 'staged'; readonly sql: string }
  | { readonly kind: 'join'; readonly joins: Joins };

/** A change in steps, as `CountWork` is: each yields requests that are sent together. */
export type ChangeWork<T> = Generator<readonly ChangeRequest[], T, readonly (readonly Row[])[]>;
