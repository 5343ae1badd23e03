import { countedChangesMax, toRowChange } from '../counts/count-changes.ts';
import { ask } from '../counts/count-work.ts';
import { guardRemoval } from '../guard-removal.ts';
import type { RemovalGuard, StagedCounts, TenantId } from '../store.ts';
import { growthOf, toChangedSums } from '../tables/storage-use.ts';
import type { ChangeWork } from './change-request.ts';
import type { Changed, ChangeOptions, RowChanges } from './commit-change.ts';
import {
  buryReplaced,
  keepReplaced,
  readReplaced,
  removeReplaced,
  reviveReplaced,
  writeReplaced,
} from './statements.ts';

/** What staged rows are loaded into, and how. */
export interface StagedOptions extends ChangeOptions {
  readonly tenant: TenantId;
  readonly importId: string | undefined;
  /** Whether rows that are not staged stay. */
  readonly keepsOthers: boolean;
}

/** Loads the staged rows of a tenant, and removes the others unless they stay; equal rows stay. */
export const loadStaged = (
  guard: RemovalGuard | undefined,
  { keepsHistory, keepsOthers }: StagedOptions,
): RowChanges<StagedCounts> => ({
  *write({ last, revision }): ChangeWork<Changed<StagedCounts>> {
    yield [{ kind: 'join', joins: 'all rows' }];
    const [[compared = {}] = []] = yield [{ kind: 'compare', revision: Number(last.revision), keepsOthers }];
    const [staged, inserted, changed, removed] = ['staged', 'inserted', 'changed', 'removed'].map((name) =>
      Number(compared[name]),
    ) as [number, number, number, number];
    const result = { inserted, updated: changed - inserted, unchanged: staged - changed, removed };
    if (guard !== undefined) guardRemoval(result, guard);
    if (changed + removed === 0) return { result };
    const versions = keepsHistory ? result.updated + removed : 0;
    if (versions > 0) {
      yield [{ kind: 'join', joins: 'by key' }];
      yield [ask(keepReplaced, revision)];
      yield [{ kind: 'join', joins: 'all rows' }];
    }
    yield [ask(writeReplaced, revision)];
    yield [{ kind: 'join', joins: 'by key' }];
    if (removed > 0) yield [ask(removeReplaced), ask(buryReplaced, revision)];
    const [revived = []] = inserted > 0 ? yield [ask(reviveReplaced)] : [];
    yield [{ kind: 'join', joins: 'counts' }];
    const isCounted = changed + removed <= countedChangesMax;
    const [rows = []] = isCounted ? yield [{ kind: 'staged', sql: readReplaced }] : [];
    const sums = toChangedSums(result, { ...compared, revived: revived.length });
    const effect = {
      counted: isCounted ? rows.map(toRowChange) : ('all' as const),
      growth: growthOf(sums, keepsHistory),
      versions,
    };
    return { result, effect };
  },
});
