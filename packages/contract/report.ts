/**
 * Path of the API: `{base_url}` of the specification is the public URL plus this (`spec.md`
 * "Endpoints").
 */
export const apiPath = '/connect-api';

/**
 * Paths of the report's operations, by operation. They are apart from `operations.ts` because the
 * client library includes them, and the descriptions there are as large as the library.
 */
export const reportPaths = {
  listSubscriptions: `${apiPath}/v1/subscription`,
  getSubscription: `${apiPath}/v1/subscription/{id}`,
  searchSubscriptions: `${apiPath}/v1/subscription/search`,
  getSubscriptionSummary: `${apiPath}/v1/subscription/summary`,
  listSubscriptionChanges: `${apiPath}/v1/subscription/changes`,
} as const;

/** Whether the path of a subscription with this id would be another path. */
export const isReservedId = (id: string): boolean => /^(changes|findings|search|summary|\.{0,2})$/.test(id);

/**
 * The URL of a service. A user may give the base URL of the API or the address of a page instead.
 */
export const serviceUrlOf = (text: string): string =>
  text.replace(/^(https?:\/\/[^/]+.*?)\/(connect-api|console|docs)([/?#].*)?$/, '$1').replace(/\/+$/, '');

/**
 * The formats of a report by the value of the parameter `format`; the first is the default. Parquet
 * is one of whole reports only.
 */
export const reportFormats = {
  json: { mediaType: 'application/json', contentType: 'application/json; charset=utf-8' },
  // RFC 4180 §3
  csv: { mediaType: 'text/csv', contentType: 'text/csv; charset=utf-8; header=present' },
  ndjson: { mediaType: 'application/x-ndjson', contentType: 'application/x-ndjson; charset=utf-8' },
  parquet: { mediaType: 'application/vnd.apache.parquet', contentType: 'application/vnd.apache.parquet' },
} as const;

/** A format of a report. */
export type ReportFormat = keyof typeof reportFormats;

/** The values of the parameter `format`. */
export const formatWords = Object.keys(reportFormats) as readonly ReportFormat[];

/**
 * Paging limits that an operator may set; `spec.md` "Query parameters" leaves them open
 * (`docs/decisions/responses.md#page-size`).
 */
export interface PageLimits {
  /** Records per page if `size` is absent. */
  readonly sizeDefault: number;
  /** The largest `size`. A larger value is rejected with 400, never clamped. */
  readonly sizeMax: number;
  /** Number of the first page: 1, or 0 for clients that expect 0-based pages. */
  readonly firstPage: 0 | 1;
}

/** The default limits. */
export const defaultPageLimits: PageLimits = { sizeDefault: 20, sizeMax: 1000, firstPage: 1 };

/** The end of a whole report, which proves to the client that the report is complete. */
export interface ExportSummary {
  /** Number of records. */
  readonly rows: number;
  /** Hexadecimal SHA-256 of all bytes before the summary. */
  readonly sha256: string;
}

/** Names of the trailer fields (RFC 9110 §6.5) with the same values. */
export const exportTrailers = { rows: 'X-Export-Rows', sha256: 'X-Export-SHA256' } as const;

/** Start of the last line of NDJSON. */
export const summaryStart = '{"summary":';

/** Formats the last line of NDJSON. */
export function writeSummaryLine({ rows, sha256 }: ExportSummary): string {
  return `${summaryStart}${JSON.stringify({ rows, sha256 })}}\n`;
}

/**
 * Parses a line of NDJSON exactly as `writeSummaryLine` writes it; `undefined` for any other line.
 */
export function readSummaryLine(line: string): ExportSummary | undefined {
  const [, rows, sha256] = /^\{"summary":\{"rows":(\d{1,15}),"sha256":"([0-9a-f]{64})"\}\}\r?$/.exec(line) ?? [];
  return rows === undefined || sha256 === undefined ? undefined : { rows: Number(rows), sha256 };
}

/**
 * The preference (`Prefer`, RFC 7240) of a client that cannot read trailers: the last line of the
 * body is the summary in CSV too.
 */
export const exportSummaryPreference = 'export-summary';
