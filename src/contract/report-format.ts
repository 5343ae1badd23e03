/**
 * The forms in which a report can be given, by the word of the parameter `format`; the first is
 * what a client gets that asks for none.
 */
export const reportFormats = {
  json: { mediaType: 'application/json', contentType: 'application/json; charset=utf-8' },
  // RFC 4180 §3
  csv: { mediaType: 'text/csv', contentType: 'text/csv; charset=utf-8; header=present' },
  ndjson: { mediaType: 'application/x-ndjson', contentType: 'application/x-ndjson; charset=utf-8' },
} as const;

/** A form of a report. */
export type ReportFormat = keyof typeof reportFormats;

/** The words of `format`. */
export const formatWords = Object.keys(reportFormats) as readonly ReportFormat[];
