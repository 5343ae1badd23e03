import type { Store, TenantId } from '../storage/store.ts';
import { withImportLock } from './import-lock.ts';
import { checkRecords, type ImportOptions, loadRecords } from './import-records.ts';
import { importStrictly, type StrictSummary } from './import-strictly.ts';
import { isPlain, requireReadable, requireWhole } from './require-whole.ts';
import type { Spool } from './spool.ts';

/** A source of rows that is to be read more than once. */
export interface WholeSource {
  /** In messages, such as the name of a file. */
  readonly name?: string;
  /** Its size, if known before it is read. */
  readonly bytes?: number | undefined;
  /** Reads it from its beginning; at most once if it has a spool. */
  readonly open: () => AsyncIterable<Buffer>;
  /** Keeps a source that can be read only once, such as standard input. */
  readonly spool?: Spool | undefined;
}

interface WholeOptions extends ImportOptions {
  /** Whether one invalid row means that nothing is loaded. */
  readonly strict: boolean;
}

/**
 * Imports a source as `importRecords` does, after it was read to its end: nothing of it is loaded
 * if it was cut, or cannot be read as a whole. The tenant's import lock is held from its first
 * byte. Throws `ImportError` also as `importStrictly` and `Spool.store` do.
 */
export async function importWhole(
  store: Store,
  tenant: TenantId,
  source: WholeSource,
  options: WholeOptions,
): Promise<StrictSummary> {
  if (options.dryRun && !options.strict) return checkRecords(source.open(), options);
  const run = (load: (open: WholeSource['open'], pass: Pass) => ReturnType<typeof loadRecords>) =>
    withWhole(source, options, (open) => {
      if (!options.strict) return load(open, options);
      const importOnce = (pass: Pass) =>
        pass.dryRun ? checkRecords(open(), { ...options, ...pass }) : load(open, { ...options, ...pass });
      return importStrictly({ ...options, sourceName: source.name, importOnce, target: { store, tenant } });
    });
  if (options.dryRun) return run((open) => checkRecords(open(), options));
  return withImportLock(store, tenant, async (lock) => {
    await options.onStart?.();
    const target = { store, tenant, lock, importId: options.importId };
    return run((open, pass) => loadRecords(target, open(), { ...options, ...pass }));
  });
}

type Pass = Pick<ImportOptions, 'dryRun' | 'onRejected' | 'onChecked'>;

/**
 * Runs work on a source that can be read repeatedly, and as a whole; the first pass of a strict
 * import shows the latter, too.
 */
async function withWhole<T>(
  { bytes, open, spool }: WholeSource,
  options: WholeOptions,
  work: (open: WholeSource['open']) => Promise<T>,
): Promise<T> {
  if (spool === undefined) {
    if (!options.strict) await requireWhole(open, options);
    return work(open);
  }
  let isWhole = options.strict;
  const look = async (kept: AsyncIterable<Buffer>): Promise<void> => {
    isWhole = (await isPlain(kept, options)) || isWhole;
  };
  const stored = await spool.store(open(), look, bytes);
  try {
    if (!isWhole) await requireReadable(stored.open(), options);
    return await work(stored.open);
  } finally {
    await stored.close();
  }
}
