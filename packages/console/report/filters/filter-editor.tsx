import { Button } from '../../ui/button.tsx';
import { strings } from '../strings.ts';
import { beforeDay, dayAfter, dayFrom, dayUntil, endOfDay, startOfDay } from './days.ts';
import type { FilterKind } from './describe-filter.ts';
import { DateRangeEditor } from './editors/date-range-editor.tsx';
import type { EditorProps } from './editors/editor-props.ts';
import { EndsEditor } from './editors/ends-editor.tsx';
import { ListEditor } from './editors/list-editor.tsx';
import { ProductEditor } from './editors/product-editor.tsx';
import { StatusEditor } from './editors/status-editor.tsx';
import { TextEditor } from './editors/text-editor.tsx';
import type { AddableFilter } from './suggest-filters.ts';
import { isValueKind, valueFilters } from './value-filters.ts';

const text = strings.subscriptions;

/** The editor of a filter that is added. */
export function FilterEditor({ filter, ...props }: EditorProps & { filter: AddableFilter }) {
  if (isValueKind(filter)) return <TextEditor {...valueFilters[filter]} {...props} />;
  switch (filter) {
    case 'status':
      return <StatusEditor {...props} />;
    case 'product':
      return <ProductEditor {...props} />;
    case 'created':
      return <CreatedEditor {...props} />;
    case 'endsWithin':
      return <EndsEditor {...props} />;
    case 'activated':
      return <DatesEditor field="activation" {...props} />;
    case 'endsBetween':
      return <DatesEditor field="expiration" {...props} />;
    case 'renewal':
      return <RenewalEditor {...props} />;
  }
}

/** The editor of a filter that is in use. */
export function ChipEditor({ kind, ...props }: EditorProps & { kind: FilterKind }) {
  if (kind === 'ends') return <EndsEditor {...props} />;
  if (kind === 'dates') return <DatesEditor field={props.state.filters['date-field'] ?? 'created'} {...props} />;
  if (kind === 'listed') return <ListedEditor {...props} />;
  return <FilterEditor filter={kind} {...props} />;
}

function ListedEditor({ state: { listed, asksForList = 'iccid' }, onApply }: EditorProps) {
  const { name, values } = listed ?? { name: asksForList, values: [] };
  return <ListEditor name={name} values={values} action={text.apply} onList={(given) => onApply({ listed: given })} />;
}

function CreatedEditor({ state: { filters }, onApply }: EditorProps) {
  const { 'created-from': from, 'created-to': to } = filters;
  return (
    <DateRangeEditor
      days={{ from: (from && dayFrom(from)) ?? '', to: (to && dayUntil(to)) ?? '' }}
      onPreset={(range) => onApply({ 'created-from': range.from, 'created-to': range.to })}
      onDays={(days) =>
        onApply({
          'created-from': days.from === '' ? undefined : startOfDay(days.from),
          'created-to': days.to === '' ? undefined : endOfDay(days.to),
        })
      }
    />
  );
}

/** Bounds of any of the dates; the service excludes the bounds themselves. */
function DatesEditor({ field, state: { filters }, onApply }: EditorProps & { field: string }) {
  const { after, before } = filters;
  return (
    <DateRangeEditor
      days={{ from: (after && dayAfter(after)) ?? '', to: (before && dayUntil(before)) ?? '' }}
      onDays={(days) =>
        onApply({
          'date-field': field,
          after: days.from === '' ? undefined : beforeDay(days.from),
          before: days.to === '' ? undefined : endOfDay(days.to),
        })
      }
    />
  );
}

const RenewalEditor = ({ onApply }: EditorProps) => (
  <div class="filter-editor presets">
    {(['true', 'false'] as const).map((renews) => (
      <Button key={renews} variant="quiet" onClick={() => onApply({ 'auto-renew': renews })}>
        {text.renewsButton[renews]}
      </Button>
    ))}
  </div>
);
