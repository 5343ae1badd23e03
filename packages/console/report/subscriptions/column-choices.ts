import { effect, signal } from '@preact/signals';
import { type ColumnChoices, columnIds } from './fit-columns.ts';

const key = 'subreport-columns';

function remembered(): ColumnChoices {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '{}');
    const entries = Object.entries(stored as object).filter(
      ([id, isShown]) => columnIds.some((known) => known === id) && typeof isShown === 'boolean',
    );
    return Object.fromEntries(entries);
  } catch {
    return {}; // storage is blocked, or holds something else
  }
}

/** The columns that the user has shown or hidden, remembered by the browser. */
export const columnChoices = signal<ColumnChoices>(remembered());

effect(() => {
  try {
    localStorage.setItem(key, JSON.stringify(columnChoices.value));
  } catch {
    // storage is blocked: the choice lasts until the page is closed
  }
});
