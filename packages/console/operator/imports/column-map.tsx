import { knownValues } from '../../../contract/known-values.ts';
import { Checkbox, Select, SuggestField, TextField } from '../../ui/field.tsx';
import { strings } from '../strings.ts';
import {
  type ColumnChoice,
  type ColumnChoices,
  codesIn,
  type ImportField,
  importFields,
  isLoadedAnyway,
} from './column-choices.ts';
import type { FirstRows } from './read-rows.ts';

const { columns: texts } = strings.imports.form;

interface ColumnMapProps {
  readonly rows: FirstRows;
  readonly choices: ColumnChoices;
  /** Whether the choices are what the file says by itself. */
  readonly isPlain: boolean;
  readonly saves: boolean;
  readonly onChange: (choices: ColumnChoices) => void;
  readonly onSaves: (saves: boolean) => void;
}

/**
 * Chooses which column of a file is which field, what its codes mean, and constants for what the
 * file lacks.
 */
export function ColumnMap({ rows, choices, isPlain, saves, onChange, onSaves }: ColumnMapProps) {
  const choose = (name: string, choice: ColumnChoice | undefined): void => {
    const { [name]: _, ...others } = choices;
    onChange(choice === undefined ? others : { ...others, [name]: choice });
  };
  const [header = []] = rows;
  const fields = importFields.map((field) => ({ field, codes: codesIn(rows, field, choices[field.name]) }));
  const hasCodes = fields.some(({ codes }) => codes.length > 0);
  return (
    <details class="column-map" open={!isPlain || hasCodes}>
      <summary>{isPlain ? 'Columns: each has the name of its field' : texts.title}</summary>
      <div class="stack">
        <p class="soft">
          {texts.hint} {hasCodes && texts.codes(rows.length - 1)}
        </p>
        <div class="column-fields">
          {fields.map(({ field, codes }) => (
            <FieldSource
              key={field.name}
              field={field}
              codes={codes}
              header={header}
              choice={choices[field.name]}
              mayBeAbsent={!isLoadedAnyway(field.name, header, choices)}
              onChoose={(choice) => choose(field.name, choice)}
            />
          ))}
        </div>
        {!isPlain && (
          <Checkbox
            label="Save for the next import"
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
  /** Values of the column that need a meaning. */
  readonly codes: readonly string[];
  readonly header: readonly string[];
  readonly choice: ColumnChoice | undefined;
  readonly mayBeAbsent: boolean;
  readonly onChoose: (choice: ColumnChoice | undefined) => void;
}

/** The column, or the value, of one field, and what codes mean. */
function FieldSource({ field, codes, header, choice, mayBeAbsent, onChoose }: FieldSourceProps) {
  const { name, isOptional, mayBeConstant } = field;
  const names = [...new Set(header.filter((each) => each !== ''))];
  const options = [
    ...(mayBeAbsent || choice === undefined ? [{ value: 'absent', label: 'No column' }] : []),
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
        label={isOptional ? name : texts.required(name)}
        options={options}
        value={value}
        onChange={({ currentTarget }) => onChoose(read(currentTarget.value))}
      />
      {choice !== undefined &&
        'column' in choice &&
        codes.map((code) => (
          <SuggestField
            key={code}
            label={texts.meaningOf(name, code)}
            suggestions={(knownValues[name] ?? []).map((value) => ({ value, label: '' }))}
            value={choice.values?.[code] ?? ''}
            placeholder="not chosen"
            onInput={({ currentTarget: { value } }) => {
              const { [code]: _, ...others } = choice.values ?? {};
              onChoose({ ...choice, values: value === '' ? others : { ...others, [code]: value } });
            }}
          />
        ))}
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
