import { countChanges, type RowChange, recount } from '../counts/count-changes.ts';
import { ask, type CountRequest } from '../counts/count-work.ts';
import { StorageError } from '../error.ts';
import type { OrderKey } from '../order-key.ts';
import type { Row } from '../store.ts';
import type { Growth } from '../tables/storage-use.ts';
import type { ChangeWork } from './change-request.ts';
import { commitRevision } from './commit-revision.ts';
import { makeRoom } from './make-room.ts';
import { setSweptRevision } from './statements.ts';

/** How a store changes subscriptions. */
export interface ChangeOptions {
  /** Whether former versions of changed records are kept. */
  readonly keepsHistory: boolean;
  /** The storage budget of a tenant in bytes; 0 means no limit. */
  readonly bytesMax: number;
}

/** What a change did to the rows of a tenant. */
interface Effect {
  /** The changed rows; `all` if they are too many to be counted one by one. */
  readonly counted?: readonly RowChange[] | 'all';
  /** The key of the last row before the change, if rows after it are new (`countChanges`). */
  readonly lastKey?: OrderKey;
  readonly growth: Growth;
  /** Versions that it added; negative if it removed some. */
  readonly versions?: number;
  /** The new revision, if it is not the one after the last. */
  readonly revision?: number;
  /** Whether no earlier revision can be read any more. */
  readonly beginsHistory?: boolean;
}

/** What a change continues. */
interface Before {
  /** The tenant's row, which is locked. */
  readonly last: Row;
  /** The next revision. */
  readonly revision: number;
  /** The rows of `reads`. */
  readonly found: readonly (readonly Row[])[];
}

export interface Changed<T> {
  readonly result: T;
  /** Absent if nothing has changed: the tenant keeps its revision. */
  readonly effect?: Effect;
}

/** A change of the rows of a tenant: their versions, the rows themselves, and their tombstones. */
export interface RowChanges<T> {
  /** What it reads first, in the message that locks the tenant. */
  readonly reads?: readonly CountRequest[];
  readonly write: (before: Before) => ChangeWork<Changed<T>>;
}

/**
 * Every change of a tenant's subscriptions that creates a revision, on both engines, in one
 * transaction: locks the tenant, changes the rows, then their counts, makes room within the budget,
 * and commits the revision. `erase` and `sweep history` create none (`tenant-change.ts`).
 */
export function* commitChange<T>(
  { reads = [], write }: RowChanges<T>,
  { keepsHistory, bytesMax, importId }: ChangeOptions & { readonly importId?: string | undefined },
): ChangeWork<T> {
  const [[last] = [], ...found] = yield [{ kind: 'lock' }, ...reads];
  // no foreign key requires the tenant
  if (last === undefined)
    throw new StorageError('UNUSABLE', 'Cannot change records: their tenant must exist in the table of tenants');
  const { result, effect } = yield* write({ last, revision: Number(last.revision) + 1, found });
  if (effect === undefined) return result;
  const { counted = [], lastKey, growth, versions = 0, ...others } = effect;
  const spans = yield* counted === 'all' ? recount({ isChange: true }) : countChanges(counted, lastKey);
  const room = yield* makeRoom({ last, growth, bytesMax });
  yield [
    ...spans,
    ...(room.sweptRevision === undefined ? [] : [ask(setSweptRevision, room.sweptRevision)]),
    ...commitRevision({ ...others, ...room, versions: versions - room.versions, last, keepsHistory, importId }),
  ];
  return result;
}
