/** The formats of an export. The service sends CSV and NDJSON; a workbook is made of NDJSON. */
export const exportFormats = {
  csv: { extension: 'csv', mediaType: 'text/csv', sent: 'csv' },
  xlsx: {
    extension: 'xlsx',
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    sent: 'ndjson',
  },
  ndjson: { extension: 'ndjson', mediaType: 'application/x-ndjson', sent: 'ndjson' },
} as const;

export type ExportFormat = keyof typeof exportFormats;
