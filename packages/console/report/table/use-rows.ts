import { computed, type ReadonlySignal, useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useShortcuts } from '../../ui/keyboard.tsx';
import { currentMemory, type LoadedReport } from '../store/report-store.ts';
import { tableStrings } from './table-strings.ts';

const text = tableStrings.keys;

const links = (root: HTMLElement): HTMLElement[] => [...root.querySelectorAll<HTMLElement>('[data-record]')];

/**
 * Moves the focus among the links of the rows, of which only one is a tab stop. After another page
 * has been loaded, focus that was in the rows goes to the first one; after Back, to the row that
 * had it.
 */
export function useRows({ page, place }: LoadedReport) {
  const root = useRef<HTMLDivElement>(null);
  const hadFocus = useRef(false);
  const focusedId = useRef<string | undefined>(undefined);
  const currentId = useSignal<string | undefined>(undefined);
  if (!page.records.some(({ id }) => id === currentId.peek())) currentId.value = page.records[0]?.id;
  useLayoutEffect(() => {
    const { current: rows } = root;
    if (rows === null) return;
    const linkOf = (id: string | undefined) => links(rows).find(({ dataset }) => dataset.record === id);
    const remembered = place === 'back' ? linkOf(currentMemory()?.focusedId) : undefined;
    const focused = document.activeElement?.closest<HTMLElement>('[data-row]');
    // the element is still there, but has another record now
    const hasMoved = focused !== null && focused !== undefined && focused.dataset.row !== focusedId.current;
    const isLost = hadFocus.current && document.activeElement === document.body;
    if (remembered !== undefined) remembered.focus({ preventScroll: true });
    else if (hasMoved && linkOf(focusedId.current)) linkOf(focusedId.current)?.focus({ preventScroll: true });
    else if (isLost || hasMoved || place === 'below') links(rows)[0]?.focus({ preventScroll: true });
    if (place !== 'back' && rows.getBoundingClientRect().top < 0) rows.scrollIntoView({ block: 'start' });
  }, [page, place]);
  const shortcuts = useRef(rowShortcuts(() => root.current)).current;
  useShortcuts(shortcuts);
  return {
    root,
    currentId,
    onFocusIn: (event: FocusEvent) => {
      hadFocus.current = true;
      const id = (event.target as HTMLElement).closest<HTMLElement>('[data-row]')?.dataset.row;
      if (id !== undefined) currentId.value = id;
      focusedId.current = id;
      const memory = currentMemory();
      if (memory !== undefined) memory.focusedId = id;
    },
    onFocusOut: (event: FocusEvent) => {
      // a row that is replaced has no next focus either, but is no longer in the page
      hadFocus.current = event.relatedTarget === null;
    },
  };
}

/** Whether a record is the current one. `useComputed` would keep the answer for another record. */
export const useIsCurrent = (currentId: ReadonlySignal<string | undefined>, id: string): boolean =>
  useMemo(() => computed(() => currentId.value === id), [currentId, id]).value;

function rowShortcuts(root: () => HTMLElement | null) {
  const move = (step: number) => (event: KeyboardEvent) => {
    const rows = root();
    if (rows === null || isElsewhere(event.target, rows)) return;
    const all = links(rows);
    const row = (event.target as HTMLElement).closest?.('[data-row]');
    const from = all.findIndex((link) => row?.contains(link) === true);
    event.preventDefault();
    all[from < 0 ? 0 : Math.min(Math.max(from + step, 0), all.length - 1)]?.focus();
  };
  const open = (event: KeyboardEvent): void => {
    const rows = root();
    if (rows === null || event.target !== document.body) return; // a control has its own Enter
    rows.querySelector<HTMLElement>('[data-record][tabindex="0"]')?.click();
  };
  return [
    { key: 'j', label: text.down, run: move(1) },
    { key: 'ArrowDown', label: text.down, run: move(1) },
    { key: 'k', label: text.up, run: move(-1) },
    { key: 'ArrowUp', label: text.up, run: move(-1) },
    { key: 'Enter', label: text.open, run: open },
  ];
}

/** Whether the focus is on something outside of the rows that may use the keys itself. */
const isElsewhere = (target: EventTarget | null, rows: HTMLElement): boolean =>
  target instanceof HTMLElement && !rows.contains(target) && target.closest('aside, nav') !== null;
