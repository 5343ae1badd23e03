import type { ExportQuery } from '../../../client/index.ts';
import { rememberedSignal } from '../../ui/remembered-signal.ts';
import { zoneName, zoneOfPages } from '../zone/local-days.ts';
import type { ExportFormat } from './export-format.ts';

/** The dates of CSV and Excel that were chosen last in this browser. */
export const lastDates = rememberedSignal<'utc' | 'local'>(
  'subreport-export-dates',
  (text) => (text === 'local' ? 'local' : 'utc'),
  (dates) => dates,
);

/** The zone of the dates in a workbook. */
export const workbookZone = (): string => (lastDates.value === 'local' ? zoneName() : 'UTC');

/** Adds the choice to a query, if the format has local dates and the pages have a zone. */
export function withDates(query: ExportQuery, format: ExportFormat): ExportQuery {
  const isLocal = lastDates.value === 'local' && (format === 'csv' || format === 'xlsx');
  return isLocal && zoneOfPages() !== undefined ? { ...query, zone: zoneName(), dates: 'local' } : query;
}

/** The label of the choice. */
export const datesText = (): string => `Dates of CSV and Excel in ${zoneName()}`;
