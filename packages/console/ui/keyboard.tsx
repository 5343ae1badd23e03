import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';
import { rememberedSignal } from './remembered-signal.ts';
import { strings } from './strings.ts';

/** A keyboard shortcut of the current page. */
export interface Shortcut {
  /** As in `KeyboardEvent.key`: "/", "j", "Enter". */
  readonly key: string;
  /** What it does, for the list of keys: "Add a filter". */
  readonly label: string;
  readonly run: (event: KeyboardEvent) => void;
}

const registered = signal<readonly Shortcut[]>([]);

/** Whether characters are shortcuts: people who speak what they type turn them off. */
const charactersAreKeys = rememberedSignal('subreport-keys', (text) => text !== 'false', String);

/** Whether the list of keys is open. */
export const keysAreShown = signal(false);

/** Whether the dialog that finds pages and records is open. */
export const findIsShown = signal(false);

/** Registers keys while the component is drawn. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useEffect(() => {
    registered.value = [...registered.peek(), ...shortcuts];
    return () => {
      registered.value = registered.peek().filter((each) => !shortcuts.includes(each));
    };
  });
}

const openFind = (): void => {
  findIsShown.value = true;
};

/** In the list of keys only: the handler of keys leaves those with Ctrl to the browser. */
const findShortcuts: readonly Shortcut[] = [{ key: 'Ctrl K', label: strings.findPlaces, run: openFind }];

/** Opens the dialog that finds pages and records with Ctrl or Command and K, while it is drawn. */
export function useFindKey(): void {
  useShortcuts(findShortcuts);
  useEffect(() => {
    findIsShown.value = false;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      openFind();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

/** Keeps what the user types while something with a field for it is loading. */
export function useKeysUntil(isLoading: boolean): { current: string } {
  const typed = useRef('');
  useLayoutEffect(() => {
    if (!isLoading) return undefined;
    const keep = (event: KeyboardEvent): void => {
      if (event.key.length > 1 || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation(); // it is no shortcut of the page
      typed.current += event.key;
    };
    window.addEventListener('keydown', keep, { capture: true });
    return () => window.removeEventListener('keydown', keep, { capture: true });
  }, [isLoading]);
  return typed;
}

/** Whether the focused field, menu or dialog handles the key itself. */
const isTaken = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('input, select, textarea, [contenteditable], [popover], dialog') !== null;

window.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTaken(event.target)) return;
  if (document.querySelector('dialog[open], [popover="auto"]:popover-open') !== null) return;
  if (event.key.length === 1 && !charactersAreKeys.peek()) return;
  if (event.key === '?') keysAreShown.value = true;
  else
    registered
      .peek()
      .findLast(({ key }) => key === event.key)
      ?.run(event);
});

const shown: Readonly<Record<string, string>> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
};

/** The list of the keys that work on this page. Drawn once, beside the frame. */
export function KeyboardHelp() {
  if (!keysAreShown.value) return null;
  const rows = Map.groupBy([...registered.value, { key: '?', label: strings.keys }], ({ label }) => label);
  return (
    <Dialog
      title={strings.keys}
      onClose={() => {
        keysAreShown.value = false;
      }}
    >
      <dl class="keys">
        {[...rows].map(([label, shortcuts]) => (
          <div key={label} class="row gap-3">
            <dt class="row gap-1">
              {shortcuts.map(({ key }) => (
                <kbd key={key}>{shown[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label={strings.characterKeys}
        checked={charactersAreKeys.value}
        onChange={({ currentTarget: { checked } }) => {
          charactersAreKeys.value = checked;
        }}
      />
    </Dialog>
  );
}
