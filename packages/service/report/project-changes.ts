import type { DescribedChange, SubscriptionChange } from '../storage/read/changes.ts';
import { RecordProjection } from './project-records.ts';

type Change = SubscriptionChange | DescribedChange;

/** Changes with some fields of their records and of the former ones. */
export function projectChanges(changes: readonly Change[], fields: readonly string[]): readonly Change[] {
  const given = changes.flatMap((change) => textsOf(change).filter((text) => text !== undefined));
  const projected = new RecordProjection(fields).convertTexts(given).values();
  const next = (text: string | undefined): string | undefined => text && projected.next().value;
  return changes.map((change) => {
    const record = next(change.record);
    return 'isUndone' in change ? { ...change, record, before: next(change.before) } : { ...change, record };
  });
}

const textsOf = (change: Change): readonly (string | undefined)[] =>
  'isUndone' in change ? [change.record, change.before] : [change.record];
