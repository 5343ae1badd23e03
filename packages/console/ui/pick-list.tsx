import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { takeFocus } from './take-focus.ts';

/** A choice of a list. */
export interface PickOption {
  readonly key: string;
  readonly label: ComponentChildren;
  /** Shown at the end of the line, such as a count. */
  readonly detail?: string | undefined;
  /** The heading that it is listed under; options of a group follow one another. */
  readonly group?: string | undefined;
  readonly onPick: () => void;
}

interface PickListProps {
  /** Name of the field and of the list. */
  readonly label: string;
  readonly placeholder: string;
  /** The text at first. */
  readonly initial?: string;
  /** The choices for a typed text. */
  readonly options: (typed: string) => readonly PickOption[];
  /** What is said if there are none. */
  readonly none: (typed: string) => string;
  /** What the choices for a typed text leave out, if anything. */
  readonly note?: (typed: string) => string | undefined;
  /** Receives a text that is pasted. Returns whether it is used otherwise than as typed. */
  readonly onPaste?: (text: string) => boolean;
  /** Called when the user types. */
  readonly onType?: () => void;
}

/** A field whose text narrows the list below it. Arrow keys move in the list, Enter picks. */
export function PickList({ label, placeholder, initial = '', options, none, note, onPaste, onType }: PickListProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(initial);
  const [active, setActive] = useState(0);
  const shown = options(typed);
  const leftOut = note?.(typed);
  const index = Math.min(active, shown.length - 1);
  useLayoutEffect(() => takeFocus(field.current), []);
  const move = (step: number): void => {
    const to = (index + step + shown.length) % shown.length;
    setActive(to);
    document.getElementById(`${id}-${to}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') shown[index]?.onPick();
    else if (event.key === 'ArrowDown' && shown.length > 0) move(1);
    else if (event.key === 'ArrowUp' && shown.length > 0) move(-1);
    else return;
    event.preventDefault();
  };
  return (
    <div class="pick-list stack gap-2">
      <input
        ref={field}
        class="control"
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={index < 0 ? undefined : `${id}-${index}`}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onPaste={(event) => {
          if (onPaste?.(event.clipboardData?.getData('text/plain') ?? '') !== true) return;
          event.preventDefault();
          setTyped('');
          setActive(0);
        }}
        onInput={(event) => {
          onType?.();
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} role="listbox" aria-label={label} class="pick-options">
        {groupsOf(shown).map(({ group, members }) => {
          const drawn = members.map(({ option, at }) => (
            // biome-ignore lint/a11y/useFocusableInteractive: as above
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
            <div
              key={option.key}
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === index}
              class="pick-option spread"
              onPointerMove={() => setActive(at)}
              onClick={option.onPick}
            >
              <span class="long">{option.label}</span>
              {option.detail !== undefined && <span class="soft">{option.detail}</span>}
            </div>
          ));
          return group === undefined ? (
            drawn
          ) : (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is not allowed in a list
            <div key={group} role="group" aria-label={group}>
              <div class="pick-group label" aria-hidden="true">
                {group}
              </div>
              {drawn}
            </div>
          );
        })}
      </div>
      {shown.length === 0 && (
        <p class="soft" role="status">
          {none(typed)}
        </p>
      )}
      {leftOut !== undefined && <p class="soft">{leftOut}</p>}
    </div>
  );
}

interface PickGroup {
  readonly group: string | undefined;
  readonly members: { readonly option: PickOption; readonly at: number }[];
}

/** The options by the heading that they share, with their place in the whole list. */
function groupsOf(options: readonly PickOption[]): readonly PickGroup[] {
  const groups: PickGroup[] = [];
  options.forEach((option, at) => {
    if (at === 0 || groups.at(-1)?.group !== option.group) groups.push({ group: option.group, members: [] });
    groups.at(-1)?.members.push({ option, at });
  });
  return groups;
}
