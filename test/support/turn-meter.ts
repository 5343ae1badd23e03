import type { Store, TenantId } from '../../packages/service/storage/store.ts';

// Loaded before a service (`--import`): measures the turns of its event loop in CPU time of the
// main thread only, because a busy machine makes a turn take longer but not cost more. A timer
// delimits the turns: it runs once per turn, and turns shorter than a millisecond count together.

const sampleMs = 1;
let [turns, longestMs] = [0, 0];
let last = cpuMs();
setInterval(() => {
  const now = cpuMs();
  turns += 1;
  longestMs = Math.max(longestMs, now - last);
  last = now;
}, sampleMs).unref();

/**
 * The message from a service to its parent: the turns since the last request, and the longest of
 * them.
 */
export interface MeasuredTurns {
  readonly turns: number;
  readonly longestMs: number;
}

process.on('message', async (message: 'turns' | TurnWork) => {
  if (message !== 'turns') {
    await run(message);
    return void process.send?.('done');
  }
  const measured: MeasuredTurns = { turns, longestMs };
  [turns, longestMs] = [0, 0];
  process.send?.(measured);
});
process.channel?.unref(); // the service stops as it would without a parent that listens

/** Work on the store that the service does at its own times, or for an operator. */
export type TurnWork =
  | { readonly kind: 'sweep' }
  /** All that the service sweeps regularly, so many days later. */
  | { readonly kind: 'sweep all'; readonly days: number }
  | { readonly kind: 'erase'; readonly tenant: TenantId; readonly ids: readonly string[] };

interface OpenedStore {
  readonly store: Store;
  readonly run: (work: TurnWork) => Promise<unknown>;
}

let opened: OpenedStore | undefined;

/** Runs work in this thread, as the service does; opening the store is not measured,
 * nor is what was before. */
async function run(work: TurnWork): Promise<void> {
  opened ??= await open();
  const { store, run: runOn } = opened;
  await store.checkReady();
  await new Promise((resolve) => setTimeout(resolve, 2 * sampleMs));
  [turns, longestMs] = [0, 0];
  await runOn(work);
}

async function open(): Promise<OpenedStore> {
  const [{ openStore }, { sweepVersions }, { eraseRecords }, { sweepStore }, { readConfig }] = await Promise.all([
    import('../../packages/service/storage/open-store.ts'),
    import('../../packages/service/storage/tables/sweep-versions.ts'),
    import('../../packages/service/import/erase-records.ts'),
    import('../../packages/service/cli/serving/sweep-regularly.ts'),
    import('../../packages/service/cli/config.ts'),
  ]);
  const { DATA_DIR: dataDir = '', DATABASE_URL: databaseUrl } = process.env;
  const store = openStore({ databaseUrl, dataDir, poolSize: 1, onConnectionError: () => undefined });
  return {
    store,
    run: (work) => {
      if (work.kind === 'erase') return eraseRecords(store, work.tenant, () => new Set(work.ids));
      if (work.kind === 'sweep') return sweepVersions(store, { nowSeconds: Math.floor(Date.now() / 1000), days: 0 });
      return sweepStore(store, readConfig(), Date.now() + work.days * 86_400_000, console.error);
    },
  };
}

// its threads would keep the process from ending
process.once('SIGTERM', () => void opened?.store.close());

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
