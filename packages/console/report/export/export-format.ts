/** The formats of an export, as the service sends them; a workbook is made of NDJSON. */
export const exportFormats = {
  csv: { extension: 'csv', mediaType: 'text/csv', sent: 'csv' },
  xlsx: {
    extension: 'xlsx',
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    sent: 'ndjson',
  },
  parquet: { extension: 'parquet', mediaType: 'application/vnd.apache.parquet', sent: 'parquet' },
  ndjson: { extension: 'ndjson', mediaType: 'application/x-ndjson', sent: 'ndjson' },
} as const;

export type ExportFormat = keyof typeof exportFormats;
