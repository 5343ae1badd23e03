import { importFlags, type LoadFlag, type LoadSummary, outcomeOf, type RejectedRow } from '../../contract/load.ts';
import type { ImportError } from '../import/error.ts';
import { importWhole, type WholeOptions } from '../import/import-records.ts';
import type { ImportSource } from '../import/require-whole.ts';
import { type RecordedImport, withHistory } from '../import/with-history.ts';
import type { TenantId } from '../storage/store.ts';
import { type OperatorContext, performInSteps } from './perform.ts';

/** What is loaded, and how: the same for a command and for a request of `loadSubscriptions`. */
interface Load extends Omit<WholeOptions, 'strict' | 'replace' | 'dryRun' | 'onRejected'> {
  readonly tenant: TenantId;
  readonly via: 'command' | 'http';
  readonly source: ImportSource;
  readonly flags: Readonly<Record<LoadFlag, boolean>>;
  /** Receives the first rejected rows. */
  readonly errors: RejectedRow[];
  /** Most rejected rows in `errors`. */
  readonly errorsMax: number;
  readonly onRejected?: WholeOptions['onRejected'];
}

interface Loaded {
  readonly summary: Omit<LoadSummary, 'correlation_id'>;
  /** Why nothing was changed, if it is because of the rows. */
  readonly refused: ImportError | undefined;
}

/**
 * Loads records into a tenant and stores the import in the history, by a command or over HTTP. A
 * dry run is no action: it changes nothing. Throws `ImportError` as `importWhole` does.
 */
export async function loadRecords(context: OperatorContext, load: Load): Promise<Loaded> {
  const { tenant, via, source, flags, errors, errorsMax, ...options } = load;
  const { encoding } = options;
  const started = performance.now();
  const { strict, replace, 'dry-run': dryRun } = flags;
  const onRejected: WholeOptions['onRejected'] = (row) => {
    if (errors.length < errorsMax) errors.push({ line: row.line, errors: [...row.errors] });
    return options.onRejected?.(row);
  };
  const { refused, importId, firstRecords, ...counts } = await recordLoad(context, load, (follow) =>
    importWhole(context.store, tenant, source, follow({ ...options, strict, replace, dryRun, onRejected })),
  );
  const summary = {
    tenant,
    import_id: importId,
    dry_run: dryRun,
    outcome: outcomeOf({ ...counts, dryRun, refused }),
    ...(encoding !== undefined && { encoding }),
    ...counts,
    seconds: Math.round(performance.now() - started) / 1000,
    errors,
    ...(dryRun && { first_records: [...firstRecords] }),
  };
  return { summary, refused };
}

function recordLoad(
  context: OperatorContext,
  { tenant, via, format, mapping, flags, remove }: Load,
  work: Parameters<typeof withHistory>[3],
): Promise<RecordedImport> {
  const { store, actor, onUnrecorded } = context;
  const given = { ...flags, remove: remove !== undefined, columns: mapping !== undefined };
  const options = importFlags.filter((flag) => given[flag]);
  const origin = { tenant, actor, via, format, flags: options, mapping };
  const record = () => withHistory(store, origin, onUnrecorded, work);
  if (flags['dry-run']) return record();
  return performInSteps(
    context,
    {
      name: 'records.load',
      target: { tenant },
      details: { format, options },
      detailsOf: countsOf,
      refusalOf: ({ refused }) => refused,
    },
    record,
  );
}

const countsOf = ({ importId, read, rejected, inserted, updated, unchanged, removed = 0 }: RecordedImport) => ({
  import_id: importId,
  ...{ read, rejected, inserted, updated, unchanged, removed },
});
