import type { DeferredIndexes, Store } from '../storage/store.ts';
import { inSpan } from '../tracing/span.ts';

/** The indexes that an import goes without. */
interface IndexDeferral {
  /** Called before the first batch; `hasMore` is whether rows follow it. */
  begin(hasMore: boolean): Promise<void>;
  /**
   * Builds what the import went without. A complete import waits for what another first load still
   * goes without.
   */
  end(isComplete: boolean): Promise<void>;
}

/**
 * Lets a first load of more than one batch go without most indexes, and a resumed one continue so.
 * A resumed import that cannot builds what the interrupted one has left out.
 */
export function createIndexDeferral(store: Store, resume: boolean): IndexDeferral {
  let deferred: DeferredIndexes | undefined;
  return {
    async begin(hasMore) {
      deferred = hasMore ? await store.deferIndexes() : undefined;
      if (deferred === undefined && resume) await store.buildIndexes();
    },
    async end(isComplete) {
      const { build } = deferred ?? {};
      if (build !== undefined) await inSpan('build indexes', () => build(isComplete));
    },
  };
}

/** For an import that leaves the indexes alone. */
export const noDeferral: IndexDeferral = { begin: async () => undefined, end: async () => undefined };
