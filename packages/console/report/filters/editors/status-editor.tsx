import { useState } from 'preact/hooks';
import { knownStatuses, noStatus, readStatusFilter } from '../../../../contract/subscription.ts';
import { EditorForm } from '../../../ui/editor-form.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { Checkbox } from '../../../ui/field.tsx';
import { formatCount } from '../../../ui/format-count.ts';
import { StatusLabel } from '../../../ui/status-label.tsx';
import { filterStrings as text } from '../filter-strings.ts';
import type { EditorProps } from './editor-props.ts';
import { useValueCounts } from './value-counts.ts';

/** Any number of statuses, each with the number of records that have it under the other filters. */
export function StatusEditor({ state, onApply }: EditorProps) {
  const counts = useValueCounts('status', state);
  const [chosen, setChosen] = useState<readonly string[]>(state.filters.status?.split(',') ?? []);
  const counted = new Map(counts.kind === 'counted' ? counts.values.map(({ value, count }) => [value, count]) : []);
  const statuses = new Set([...knownStatuses, ...counted.keys(), ...chosen, noStatus]);
  return (
    <EditorForm onSubmit={() => onApply({ status: chosen.length === 0 ? undefined : chosen.join(',') })}>
      <fieldset>
        <legend>{text.status}</legend>
        {[...statuses].map((status) => (
          <div key={status} class="check-line spread">
            <Checkbox
              label={<StatusLabel status={readStatusFilter(status)} />}
              checked={chosen.includes(status)}
              onChange={({ currentTarget: { checked } }) =>
                setChosen(checked ? [...chosen, status] : chosen.filter((each) => each !== status))
              }
            />
            {counts.kind === 'counted' && <span class="soft">{formatCount(counted.get(status) ?? 0)}</span>}
          </div>
        ))}
      </fieldset>
      {counts.kind === 'unknown' &&
        (counts.error === undefined ? (
          <p class="soft small">{text.editor.noCounts}</p>
        ) : (
          <ErrorNote error={counts.error} />
        ))}
    </EditorForm>
  );
}
