import { useState } from 'preact/hooks';
import type { PickOption } from '../../ui/pick-list.tsx';
import type { FilterChanges } from '../link/report-state.ts';
import { type Pasted, readPasted } from './read-pasted.ts';

/** What a list of filters offers after a column was pasted into its field, until the user types. */
export function usePasted(onPick: (changes: FilterChanges) => void, group?: string) {
  const [pasted, setPasted] = useState<Pasted>();
  const options: readonly PickOption[] | undefined =
    pasted &&
    ('fault' in pasted
      ? []
      : pasted.choices.map(({ label, detail, apply }) => ({
          key: label,
          label,
          detail,
          group,
          onPick: () => onPick(apply),
        })));
  return {
    options,
    fault: pasted && 'fault' in pasted ? pasted.fault : undefined,
    onPaste: (text: string): boolean => {
      const read = readPasted(text);
      setPasted(read);
      return read !== undefined;
    },
    onType: () => setPasted(undefined),
  };
}
