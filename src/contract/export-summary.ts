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
