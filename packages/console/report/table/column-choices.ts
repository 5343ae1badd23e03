import { rememberedSignal } from '../../ui/remembered-signal.ts';
import { type ColumnChoices, columnIds } from './columns.ts';

function readChoices(text?: string | null): ColumnChoices {
  try {
    const stored: unknown = JSON.parse(text ?? '{}');
    const entries = Object.entries(stored as object).filter(
      ([id, isShown]) => columnIds.some((known) => known === id) && typeof isShown === 'boolean',
    );
    return Object.fromEntries(entries);
  } catch {
    return {}; // storage holds something else
  }
}

/** The columns that the user has shown or hidden, remembered by the browser. */
export const columnChoices = rememberedSignal('subreport-columns', readChoices, JSON.stringify);
