import type { ImportSummary } from '../import/import-summary.ts';
import { type FollowImport, type ImportOrigin, type RecordedImport, withHistory } from '../import/with-history.ts';
import { type OperatorContext, performInSteps } from './perform.ts';

/** What a load is, besides who starts it. */
type Load = Omit<ImportOrigin, 'actor'>;

/**
 * Loads records into a tenant, as `work` does, and stores the import in the history. A dry run is
 * no action: it changes nothing. A failure to store the result is passed to `onUnrecorded`.
 */
export function loadRecords(
  context: OperatorContext,
  load: Load,
  onUnrecorded: (error: unknown) => void,
  work: (follow: FollowImport) => Promise<ImportSummary>,
): Promise<RecordedImport> {
  const { store, actor } = context;
  const { tenant, flags, format } = load;
  const record = () => withHistory(store, { ...load, actor }, onUnrecorded, work);
  if (flags.includes('dry-run')) return record();
  return performInSteps(
    context,
    {
      name: 'records.load',
      target: { tenant },
      details: { format, options: flags },
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
