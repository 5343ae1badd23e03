import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StorageError, type StorageErrorCode } from './error.ts';
import type { ReplaceCounts, Replacement } from './replacement.ts';
import type { TenantId } from './store.ts';
import type { SubscriptionRow } from './subscription-row.ts';

/** What the thread of a replacement is asked for. */
export type ReplacementRequest =
  | { readonly kind: 'add'; readonly rows: readonly SubscriptionRow[] }
  | { readonly kind: 'finish'; readonly dryRun: boolean };

/** What it answers. */
export type ReplacementAnswer =
  | { readonly ok: true; readonly counts?: ReplaceCounts }
  | { readonly ok: false; readonly message: string; readonly code?: StorageErrorCode };

/** What the thread begins with. */
export interface ReplacementStart {
  readonly file: string;
  readonly tenant: TenantId;
}

/** Opens a replacement on the embedded store, in a thread of its own: what it does at the end takes seconds, in which this one goes on serving. */
export function openSqliteReplacement(file: string, tenant: TenantId): Replacement {
  const workerData: ReplacementStart = { file, tenant };
  const worker = new Worker(new URL('./sqlite-replacement-thread.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: 12 }, // it makes much and keeps nothing: a larger one would take 40 MB more
  });
  const gone = new Promise<never>((_, reject) => {
    worker.once('error', reject);
    worker.once('exit', () =>
      reject(new TypeError('Cannot go on with the replacement: its thread must run until then')),
    );
  });
  gone.catch(() => undefined); // told to whoever waits for an answer
  const ask = async (request: ReplacementRequest): Promise<ReplaceCounts | undefined> => {
    worker.postMessage(request);
    const [answer] = (await Promise.race([once(worker, 'message'), gone])) as [ReplacementAnswer];
    if (answer.ok) return answer.counts;
    throw answer.code === undefined ? new TypeError(answer.message) : new StorageError(answer.code, answer.message);
  };
  return {
    async add(rows) {
      await ask({ kind: 'add', rows });
    },
    async finish(dryRun) {
      const counts = await ask({ kind: 'finish', dryRun });
      if (counts === undefined)
        throw new TypeError('Cannot finish the replacement: its thread must answer with counts');
      return counts;
    },
    async close() {
      await worker.terminate(); // between two statements; a transaction that is under way is rolled back with its connection
    },
  };
}
