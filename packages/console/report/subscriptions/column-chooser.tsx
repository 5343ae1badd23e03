import { Checkbox } from '../../ui/field.tsx';
import { Columns3 } from '../../ui/icons.ts';
import { Popover } from '../../ui/popover.tsx';
import { strings } from '../strings.ts';
import { columnChoices } from './column-choices.ts';
import { columnIds, fitColumns, requiredColumns } from './fit-columns.ts';

const text = strings.subscriptions;

/** Shows and hides columns of the table. */
export const ColumnChooser = ({ width }: { width: number }) => (
  <Popover label={text.columns} icon={Columns3}>
    {() => <ColumnList width={width} />}
  </Popover>
);

function ColumnList({ width }: { width: number }) {
  const choices = columnChoices.value;
  const { widths } = fitColumns(width, choices);
  return (
    <fieldset class="column-list">
      <legend>{text.columns}</legend>
      {columnIds
        .filter((id) => !requiredColumns.includes(id))
        .map((id) => {
          const isWanted = choices[id] ?? id !== 'id';
          return (
            <div key={id} class="column-choice">
              <Checkbox
                label={text.column[id]}
                checked={isWanted}
                onChange={({ currentTarget: { checked } }) => {
                  columnChoices.value = { ...columnChoices.peek(), [id]: checked };
                }}
              />
              {isWanted && !widths.has(id) && <span class="soft">{text.noRoom}</span>}
            </div>
          );
        })}
    </fieldset>
  );
}
