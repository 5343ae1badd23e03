import { readFields } from '../../../contract/fields.ts';
import { recordFields } from '../../../contract/record-fields.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { fieldHeading } from '../words/field-heading.ts';
import { exportStrings } from './export-strings.ts';

const text = exportStrings.fields;

interface FieldChooserProps {
  /** As in a link; `undefined` is all of them. */
  readonly fields: string | undefined;
  readonly onChange: (fields: string | undefined) => void;
}

const all = recordFields.map(({ name }) => name);

/** The columns of a report. Those that are chosen come first, in the order in which they were chosen. */
export function FieldChooser({ fields, onChange }: FieldChooserProps) {
  const chosen = fields === undefined ? [] : readFields(fields).fields;
  const choose = (name: string, isChosen: boolean): void => {
    const next = isChosen ? [...chosen, name] : chosen.filter((each) => each !== name);
    onChange(next.length === 0 ? undefined : next.join(','));
  };
  return (
    <fieldset class="field-chooser">
      <legend>{text.title}</legend>
      <p class="soft small">{text.hint}</p>
      {[...chosen, ...all.filter((name) => !chosen.includes(name))].map((name) => (
        <Checkbox
          key={name}
          label={fieldHeading(name)}
          checked={chosen.includes(name)}
          onChange={({ currentTarget: { checked } }) => choose(name, checked)}
        />
      ))}
      {chosen.length > 0 && (
        <Button variant="quiet" onClick={() => onChange(undefined)}>
          {text.all(all.length)}
        </Button>
      )}
    </fieldset>
  );
}

/** "Columns of the file: all", or which they are. */
export const fieldsText = (fields: string | undefined): string =>
  fields === undefined
    ? 'Columns of the file: all'
    : text.chosen(readFields(fields).fields.map(fieldHeading).join(', '));
