import { useState } from 'preact/hooks';
import type { PickOption } from '../../ui/pick-list.tsx';
import type { FilterChanges } from '../link/report-state.ts';
import { readPasted } from './read-pasted.ts';

interface PastedProps {
  readonly onPick: (changes: FilterChanges) => void;
  readonly group?: string;
  /** What a single value offers. */
  readonly options: (typed: string) => readonly PickOption[];
  readonly none: string;
}

/** What a list of filters offers for several values that were typed, or pasted as a column. */
export function usePasted({ onPick, group, options, none }: PastedProps) {
  const [pasted, setPasted] = useState<string>();
  const read = (typed: string) => readPasted(pasted ?? typed);
  return {
    options(typed: string): readonly PickOption[] {
      const several = read(typed);
      if (several === undefined) return options(typed);
      if ('fault' in several) return [];
      return several.choices.map(({ label, detail, apply }) => ({
        key: label,
        label,
        detail,
        group,
        onPick: () => onPick(apply),
      }));
    },
    none(typed: string): string {
      const several = read(typed);
      return several !== undefined && 'fault' in several ? several.fault : none;
    },
    onPaste(text: string): boolean {
      const isColumn = /[\r\n]/.test(text.trim()); // which the field would join
      setPasted(isColumn ? text : undefined);
      return isColumn;
    },
    onType: () => setPasted(undefined),
  };
}
