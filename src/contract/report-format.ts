/** The formats of a report by the value of the parameter `format`; the first is the default. */
export const reportFormats = {
  json: { mediaType: 'application/json', contentType: 'application/json; charset=utf-8' },
  // RFC 4180 §3
  csv: { mediaType: 'text/csv', contentType: 'text/csv; charset=utf-8; header=present' },
  ndjson: { mediaType: 'application/x-ndjson', contentType: 'application/x-ndjson; charset=utf-8' },
} as const;

/** A format of a report. */
export type ReportFormat = keyof typeof reportFormats;

/** The values of the parameter `format`. */
export const formatWords = Object.keys(reportFormats) as readonly ReportFormat[];
