import { Checkbox } from '../../ui/field.tsx';
import { Columns3 } from '../../ui/icons.ts';
import { Popover } from '../../ui/popover.tsx';
import { FieldChooser } from '../export/field-chooser.tsx';
import type { ReportState } from '../link/report-state.ts';
import { showReport } from '../store/report-store.ts';
import { columnChoices } from './column-choices.ts';
import { columnIds, columns, fitColumns, isWanted, labelOf } from './columns.ts';
import { tableStrings } from './table-strings.ts';

const text = tableStrings;

/** Shows and hides columns of the table. */
export const ColumnChooser = ({ width, state }: { readonly width: number; readonly state: ReportState }) => (
  <Popover label={text.columns} icon={Columns3}>
    {() =>
      state.fields === undefined ? (
        <ColumnList width={width} />
      ) : (
        <FieldChooser fields={state.fields} onChange={(fields) => showReport({ ...state, fields })} />
      )
    }
  </Popover>
);

function ColumnList({ width }: { width: number }) {
  const choices = columnChoices.value;
  const { widths } = fitColumns(width, choices);
  return (
    <fieldset>
      <legend>{text.columns}</legend>
      {columnIds
        .filter((id) => columns[id].rank > 0)
        .map((id) => (
          <div key={id} class="check-line spread">
            <Checkbox
              label={labelOf(id)}
              checked={isWanted(id, choices)}
              onChange={({ currentTarget: { checked } }) => {
                columnChoices.value = { ...columnChoices.peek(), [id]: checked };
              }}
            />
            {isWanted(id, choices) && !widths.has(id) && <span class="soft">does not fit</span>}
          </div>
        ))}
    </fieldset>
  );
}
