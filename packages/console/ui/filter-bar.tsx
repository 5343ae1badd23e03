import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { Chip } from './chip.tsx';
import { Plus } from './icons.ts';
import { useShortcuts } from './keyboard.tsx';
import { Popover } from './popover.tsx';
import { strings } from './strings.ts';

const text = strings.filters;

/** A filter that is in use. */
export interface UsedFilter<Kind> {
  readonly kind: Kind;
  /** `Status` */
  readonly label: string;
  /** `Active, Depleted` */
  readonly value: string;
}

interface FilterBarProps<Kind, Changes> {
  readonly used: readonly UsedFilter<Kind>[];
  /** What removes some of them. */
  readonly removalOf: (...kinds: readonly Kind[]) => Changes;
  readonly onApply: (changes: Changes) => void;
  readonly editor: (kind: Kind, onApply: (changes: Changes) => void) => ComponentChildren;
  /** The list that adds a filter; absent if there is none to add. */
  readonly adder: ((onApply: (changes: Changes) => void) => ComponentChildren) | undefined;
}

/** The filters in words, and the list that adds one. */
export function FilterBar<Kind, Changes>({ used, removalOf, onApply, editor, adder }: FilterBarProps<Kind, Changes>) {
  const root = useRef<HTMLSpanElement>(null);
  const shortcuts = useRef([
    {
      key: '/',
      label: text.addKey,
      run: (event: KeyboardEvent) => {
        event.preventDefault(); // the list must not begin with the key
        root.current?.querySelector('button')?.click();
      },
    },
  ]);
  useShortcuts(shortcuts.current);
  const closing = (close: () => void) => (changes: Changes) => {
    close();
    onApply(changes);
  };
  return (
    <fieldset class="filter-bar row no-print" aria-label={text.title}>
      {used.map(({ kind, label, value }) => (
        <Chip key={label} label={text.chip(label, value)} onRemove={() => onApply(removalOf(kind))}>
          {(close) => editor(kind, closing(close))}
        </Chip>
      ))}
      {adder && (
        <span ref={root}>
          <Popover label={text.add} icon={Plus}>
            {(close) => adder(closing(close))}
          </Popover>
        </span>
      )}
      {used.length > 1 && (
        <Button variant="quiet" onClick={() => onApply(removalOf(...used.map(({ kind }) => kind)))}>
          {text.clear}
        </Button>
      )}
    </fieldset>
  );
}
