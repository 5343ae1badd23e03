import { Checkbox } from '../../ui/field.tsx';

interface CheckboxGroupProps<T extends string> {
  readonly legend: string;
  readonly options: readonly {
    readonly value: T;
    readonly label: string;
    readonly disabledReason?: string | undefined;
  }[];
  readonly chosen: readonly T[];
  readonly onChange: (chosen: readonly T[]) => void;
}

/** Several of a few values, in the order of the options. */
export const CheckboxGroup = <T extends string>({ legend, options, chosen, onChange }: CheckboxGroupProps<T>) => (
  <fieldset class="choices">
    <legend>{legend}</legend>
    {options.map(({ value, label, disabledReason }) => (
      <span key={value} title={disabledReason}>
        <Checkbox
          label={label}
          checked={chosen.includes(value)}
          disabled={disabledReason !== undefined}
          onChange={({ currentTarget }) => {
            const next = currentTarget.checked ? [...chosen, value] : chosen.filter((each) => each !== value);
            onChange(options.map((option) => option.value).filter((each) => next.includes(each)));
          }}
        />
      </span>
    ))}
  </fieldset>
);
