import { Checkbox, Select, TextField } from '../../ui/field.tsx';
import { strings } from '../strings.ts';
import {
  type ColumnChoice,
  type ColumnChoices,
  type ImportField,
  importFields,
  isLoadedAnyway,
} from './column-choices.ts';

const { columns: texts } = strings.imports.form;

interface ColumnMapProps {
  /** The names of the columns of the file. */
  readonly header: readonly string[];
  readonly choices: ColumnChoices;
  /** Whether the choices are what the file says by itself. */
  readonly isPlain: boolean;
  readonly saves: boolean;
  readonly onChange: (choices: ColumnChoices) => void;
  readonly onSaves: (saves: boolean) => void;
}

/** Chooses which column of a file is which field, and constants for what the file lacks. */
export function ColumnMap({ header, choices, isPlain, saves, onChange, onSaves }: ColumnMapProps) {
  const choose = (name: string, choice: ColumnChoice | undefined): void => {
    const { [name]: _, ...others } = choices;
    onChange(choice === undefined ? others : { ...others, [name]: choice });
  };
  return (
    <details class="column-map" open={!isPlain}>
      <summary>{isPlain ? texts.plain : texts.title}</summary>
      <div class="stack">
        <p class="soft">{texts.hint}</p>
        <div class="column-fields">
          {importFields.map((field) => (
            <FieldSource
              key={field.name}
              field={field}
              header={header}
              choice={choices[field.name]}
              mayBeAbsent={!isLoadedAnyway(field.name, header, choices)}
              onChoose={(choice) => choose(field.name, choice)}
            />
          ))}
        </div>
        {!isPlain && (
          <Checkbox
            label={texts.save}
            checked={saves}
            onChange={({ currentTarget }) => onSaves(currentTarget.checked)}
          />
        )}
      </div>
    </details>
  );
}

interface FieldSourceProps {
  readonly field: ImportField;
  readonly header: readonly string[];
  readonly choice: ColumnChoice | undefined;
  readonly mayBeAbsent: boolean;
  readonly onChoose: (choice: ColumnChoice | undefined) => void;
}

/** The column, or the value, of one field. */
function FieldSource({ field, header, choice, mayBeAbsent, onChoose }: FieldSourceProps) {
  const { name, isRequired, mayBeConstant } = field;
  const names = [...new Set(header.filter((each) => each !== ''))];
  const options = [
    ...(mayBeAbsent || choice === undefined ? [{ value: 'absent', label: texts.absent }] : []),
    ...(mayBeConstant && mayBeAbsent ? [{ value: 'constant', label: texts.constant }] : []),
    ...names.map((each) => ({ value: `column ${each}`, label: each })),
  ];
  const value = choice === undefined ? 'absent' : 'column' in choice ? `column ${choice.column}` : 'constant';
  const read = (chosen: string): ColumnChoice | undefined => {
    if (chosen.startsWith('column ')) return { column: chosen.slice('column '.length) };
    return chosen === 'constant' ? { constant: '' } : undefined;
  };
  return (
    <div class="column-field">
      <Select
        label={isRequired ? texts.required(name) : name}
        options={options}
        value={value}
        onChange={({ currentTarget }) => onChoose(read(currentTarget.value))}
      />
      {choice !== undefined && 'constant' in choice && (
        <TextField
          label={texts.valueOf(name)}
          value={choice.constant}
          onInput={({ currentTarget }) => onChoose({ constant: currentTarget.value })}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    </div>
  );
}
