import { type FollowImport, type ImportOrigin, recordImport } from '../import/record-import.ts';
import type { ReplaceSummary } from '../import/replace-records.ts';
import { type OperatorContext, performInSteps } from './perform.ts';

/** What a load is, besides who starts it. */
type Load = Omit<ImportOrigin, 'actor'>;

/**
 * Loads records into a tenant, as `work` does, and stores the import in the history. A dry run is
 * no action: it changes nothing. A failure to store the result is passed to `onUnrecorded`.
 */
export function loadRecords<T extends Partial<ReplaceSummary> & Pick<ReplaceSummary, 'read' | 'rejected'>>(
  context: OperatorContext,
  load: Load,
  onUnrecorded: (error: unknown) => void,
  work: (follow: FollowImport) => Promise<T>,
): Promise<T & { readonly importId: string }> {
  const { store, actor } = context;
  const { tenant, flags, format } = load;
  const record = () => recordImport(store, { ...load, actor }, onUnrecorded, work);
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

const countsOf = ({ importId, ...summary }: Partial<ReplaceSummary> & { readonly importId: string }) => {
  const { read = 0, rejected = 0, inserted = 0, updated = 0, unchanged = 0, removed = 0 } = summary;
  return { import_id: importId, read, rejected, inserted, updated, unchanged, removed };
};
