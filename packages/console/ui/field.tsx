import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  /** A sentence below the field. */
  readonly hint?: string | undefined;
  /** What is wrong with the value; replaces the hint. */
  readonly error?: string | undefined;
}

interface Described {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

/** A label, a control that `children` draws, and a hint or an error below it. */
function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & { children: (described: Described) => ComponentChildren }) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div class="stack gap-1">
      <label class="label" for={id}>
        {label}
      </label>
      {children({
        id,
        ...(note !== undefined && { 'aria-describedby': `${id}-note` }),
        ...(error !== undefined && { 'aria-invalid': true }),
      })}
      {note !== undefined && (
        <p id={`${id}-note`} class={`small long ${error === undefined ? 'soft' : 'field-error'}`}>
          {note}
        </p>
      )}
    </div>
  );
}

type InputAttributes = Omit<InputHTMLAttributes<HTMLInputElement>, 'label' | 'role'>;
type SelectAttributes = Omit<SelectHTMLAttributes<HTMLSelectElement>, 'label' | 'role'>;

export const TextField = ({ label, hint, error, ...input }: FieldProps & InputAttributes) => (
  <Field label={label} hint={hint} error={error}>
    {(described) => (
      <input type="text" {...(input as InputHTMLAttributes<HTMLInputElement>)} {...described} class="control" />
    )}
  </Field>
);

interface SuggestFieldProps extends FieldProps {
  readonly suggestions: readonly { readonly value: string; readonly label: string }[];
}

/** A text field that suggests values; others can be typed. */
export function SuggestField({ suggestions, ...field }: SuggestFieldProps & InputAttributes) {
  const list = useId();
  return (
    <div>
      <TextField {...field} {...{ list }} autocomplete="off" spellcheck={false} />
      <datalist id={list}>
        {suggestions.map((each) => (
          <option key={each.value} value={each.value} label={each.label} />
        ))}
      </datalist>
    </div>
  );
}

export const TextArea = ({
  label,
  hint,
  error,
  ...area
}: FieldProps & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'label'>) => (
  <Field label={label} hint={hint} error={error}>
    {(described) => <textarea {...area} {...described} class="control" />}
  </Field>
);

interface SelectProps extends FieldProps {
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export const Select = ({ label, hint, error, options, ...select }: SelectProps & SelectAttributes) => (
  <Field label={label} hint={hint} error={error}>
    {(described) => (
      <select {...(select as SelectHTMLAttributes<HTMLSelectElement>)} {...described} class="control">
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    )}
  </Field>
);

export const Checkbox = ({ label, ...input }: { label: ComponentChildren } & InputAttributes) => (
  <label class="checkbox">
    <input {...(input as object)} type="checkbox" />
    <span>{label}</span>
  </label>
);
