import type { TObject, TSchema } from 'typebox';
import type { OperatorApiId, OperatorBody } from '../../../contract/operator/operations.ts';
import { Checkbox, Select, TextArea, TextField } from '../../ui/field.tsx';

/** A value as a field holds it: a text, chosen words, or a tick. */
type Value = string | boolean | readonly string[];
export type Values = Readonly<Record<string, Value>>;

/** What a form says of one member of a body. Its kind and its bounds come from the schema. */
interface FieldRow {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The names of its values; a value without one is shown as it is. */
  readonly words?: Readonly<Record<string, string>>;
  /** What each value means, if they are shown one below the other. */
  readonly meanings?: Readonly<Record<string, string>>;
  /** Whether it must be given, although the schema does not require it. */
  readonly isRequired?: boolean;
  /** Whether it has several lines. */
  readonly isLong?: boolean;
  /** Why a value cannot be chosen; `undefined` if it can. */
  readonly refusalOf?: (value: string) => string | undefined;
  /** Reads what was typed. */
  readonly read?: (text: string) => string | readonly string[];
}

/** The fields of a form in their order. */
export type FieldRows<Id extends OperatorApiId> = { readonly [Name in keyof OperatorBody<Id>]?: FieldRow };

interface Keywords {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Keywords;
  readonly anyOf?: readonly Keywords[];
  readonly default?: string | number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly 'x-secret'?: true;
}

/** The keywords of a schema, without its null. */
function keywordsOf(schema: TSchema): Keywords & { readonly isNullable: boolean } {
  const { anyOf } = schema as Keywords;
  return { ...(anyOf?.[0] ?? (schema as Keywords)), isNullable: anyOf !== undefined };
}

const memberOf = ({ properties }: TObject, name: string): TSchema => properties[name] as TSchema;
const isList = ({ items }: Keywords): boolean => items?.enum !== undefined;
const isNumber = ({ type }: Keywords): boolean => type === 'integer' || type === 'number';

/** The values of an empty form. */
export function emptyValues(schema: TObject, rows: Readonly<Record<string, FieldRow>>): Values {
  const emptyOf = (name: string): Value => {
    const keywords = keywordsOf(memberOf(schema, name));
    if (keywords.type === 'boolean') return false;
    return isList(keywords) ? [] : String(keywords.default ?? '');
  };
  return Object.fromEntries(Object.keys(rows).map((name) => [name, emptyOf(name)]));
}

/** Whether the values can be sent; the service checks what they are. */
export const isComplete = (schema: TObject, rows: Readonly<Record<string, FieldRow>>, values: Values): boolean =>
  Object.entries(rows).every(([name, { isRequired = false }]) => {
    const value = values[name];
    if (Array.isArray(value)) return value.length > 0;
    return typeof value !== 'string' || value.trim() !== '' || !(isRequired || schema.required?.includes(name));
  });

/** The body of the operation; an empty field is left out, or null where that has a meaning. */
export function bodyOf(
  schema: TObject,
  rows: Readonly<Record<string, FieldRow>>,
  values: Values,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(rows).map(([name, { read = (text: string) => text }]) => {
    const [value, keywords] = [values[name], keywordsOf(memberOf(schema, name))];
    if (typeof value !== 'string') return [name, value] as const;
    if (value.trim() === '') return [name, keywords.isNullable ? null : undefined] as const;
    return [name, isNumber(keywords) ? Number(value) : read(value.trim())] as const;
  });
  return Object.fromEntries(entries);
}

interface FieldsProps {
  readonly schema: TObject;
  readonly rows: Readonly<Record<string, FieldRow>>;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}

/** The fields of a form, each by the schema of its member. */
export const Fields = ({ schema, rows, values, onChange }: FieldsProps) => (
  <>
    {Object.entries(rows).map(([name, row]) => (
      <MemberField
        key={name}
        row={row}
        keywords={keywordsOf(memberOf(schema, name))}
        isRequired={row.isRequired === true || schema.required?.includes(name) === true}
        value={values[name] ?? ''}
        onChange={(value) => onChange({ ...values, [name]: value })}
      />
    ))}
  </>
);

interface MemberFieldProps {
  readonly row: FieldRow;
  readonly keywords: ReturnType<typeof keywordsOf>;
  readonly isRequired: boolean;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

function MemberField({ row, keywords, isRequired, value, onChange }: MemberFieldProps) {
  const { label, hint, words = {}, isLong = false } = row;
  if (keywords.type === 'boolean')
    return (
      <Checkbox
        label={label}
        checked={value === true}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  if (isList(keywords))
    return <ListField row={row} known={keywords.items?.enum ?? []} value={value} onChange={onChange} />;
  if (keywords.enum !== undefined && row.meanings !== undefined)
    return <RadioField row={row} known={keywords.enum} value={value} onChange={onChange} />;
  if (keywords.enum !== undefined)
    return (
      <Select
        label={label}
        hint={hint}
        options={[...(keywords.isNullable ? [''] : []), ...keywords.enum].map((each) => ({
          value: each,
          label: words[each] ?? each,
        }))}
        value={String(value)}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  const shared = { label, hint, value: String(value), autocomplete: 'off', spellcheck: false, required: isRequired };
  if (isLong) return <TextArea {...shared} rows={4} onInput={({ currentTarget }) => onChange(currentTarget.value)} />;
  const { minimum: min, maximum: max, maxLength } = keywords;
  return (
    <TextField
      {...shared}
      {...(keywords['x-secret'] === true && { type: 'password', autocomplete: 'current-password' })}
      {...(isNumber(keywords) && { type: 'number', min, max, step: keywords.type === 'integer' ? 1 : 'any' })}
      maxLength={row.read === undefined ? maxLength : undefined}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

interface ChoiceProps extends Pick<MemberFieldProps, 'row' | 'value' | 'onChange'> {
  readonly known: readonly string[];
}

/** Several of a few values, in the order of the schema. */
const ListField = ({ row: { label, words = {}, refusalOf }, known, value, onChange }: ChoiceProps) => (
  <fieldset class="stack gap-1">
    <legend>{label}</legend>
    {known.map((each) => {
      const chosen = (name: string): boolean => Array.isArray(value) && value.includes(name);
      const refusal = refusalOf?.(each);
      return (
        <span key={each} title={refusal}>
          <Checkbox
            label={words[each] ?? each}
            checked={chosen(each)}
            disabled={refusal !== undefined}
            onChange={({ currentTarget: { checked } }) =>
              onChange(known.filter((name) => (name === each ? checked : chosen(name))))
            }
          />
        </span>
      );
    })}
  </fieldset>
);

/** One of a few values that need an explanation. */
export const RadioField = ({ row: { label, words = {}, meanings = {} }, known, value, onChange }: ChoiceProps) => (
  <fieldset class="stack gap-1">
    <legend>{label}</legend>
    {known.map((each) => (
      <label key={each} class="checkbox choice">
        <input type="radio" name={label} checked={each === value} onChange={() => onChange(each)} />
        <span>
          {words[each]} <span class="soft">{meanings[each]}</span>
        </span>
      </label>
    ))}
  </fieldset>
);
