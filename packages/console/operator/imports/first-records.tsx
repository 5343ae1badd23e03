import { recordFields, valueAt } from '../../../contract/record-fields.ts';
import type { Subscription } from '../../../contract/subscription.ts';
import { DataTable } from '../parts/data-table.tsx';
import { strings } from '../strings.ts';

const { form: texts } = strings.imports;

/** The first rows of a file as they would be stored, a column for each. */
export const FirstRecords = ({ records }: { records: readonly Subscription[] }) => (
  <DataTable
    label={texts.firstRecords}
    columns={[
      { label: strings.imports.field, cell: ({ name }) => <code>{name}</code> },
      ...records.map((record, at) => ({
        label: texts.record(at + 1),
        isWide: true,
        cell: (field: (typeof recordFields)[number]) => shown(valueAt(record, field)),
      })),
    ]}
    items={recordFields}
    keyOf={({ name }) => name}
  />
);

const shown = (value: unknown) => {
  if (value === undefined) return <span class="soft">{strings.noValue}</span>;
  return value === '' ? <span class="soft">empty</span> : <span class="first-value">{String(value)}</span>;
};
