import { formatCount } from '../../ui/format-count.ts';

const rowCount = (rows: number): string => `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`;

/** The texts of exports. */
export const exportStrings = {
  menu: 'Export',
  tray: 'Exports of this visit',
  all: 'All exports',
  cancel: 'Cancel',
  dismiss: (file: string) => `Dismiss ${file}`,
  formats: {
    csv: {
      name: 'CSV',
      hint: 'Any number of rows, for spreadsheets and scripts',
    },
    xlsx: {
      name: 'Excel',
      // the zone follows
      hint: 'Up to 1,048,575 rows, dates in ',
    },
    parquet: {
      name: 'Parquet',
      hint: 'Any number of rows with types, for DuckDB and pandas',
    },
    ndjson: {
      name: 'NDJSON',
      hint: 'One JSON object per line, for programs',
    },
  },
  limits:
    'Each client can run two exports at a time. A file is saved only if its number of rows and its SHA-256 checksum are those that the service computed. Keep this tab open until the export ends. Browsers without a dialog for saving hold the file in memory until then.',
  none: 'No exports in this visit',
  noneHint:
    'Filter the subscriptions, then choose Export. The file contains every subscription that matches the filters.',
  started: (file: string) => `Exporting ${file}`,
  received: (rows: number, totalRows: number) => `${formatCount(rows)} of ${rowCount(totalRows)}`,
  receivedSoFar: (rows: number) => `${rowCount(rows)} so far`,
  receiving: (totalRows?: number) =>
    totalRows === undefined ? 'Receiving the file' : `Receiving ${rowCount(totalRows)}`,
  saved: (rows?: number) =>
    rows === undefined
      ? 'Complete, exactly as the service sent it.'
      : `Complete: ${rowCount(rows)}, exactly as the service sent them.`,
  altered: 'The file differs from what the service sent and was not saved.',
  workbookFull: 'An Excel sheet holds at most 1,048,575 records. Export as CSV instead.',
  size: (bytes: number) =>
    bytes < 1_000_000
      ? `${formatCount(Math.ceil(bytes / 1000))} kB`
      : `${formatCount(Math.round(bytes / 1e5) / 10)} MB`,
  fields: {
    title: 'Columns',
    hint: 'Chosen columns come in the order in which you choose them.',
    all: (count: number) => `All ${formatCount(count)} columns`,
    chosen: (names: string) => `Columns of the file: ${names}`,
  },
} as const;
