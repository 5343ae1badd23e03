/** What ends a whole report: with it a reader knows that nothing is missing. */
export interface ExportSummary {
  /** Records of the report. */
  readonly rows: number;
  /** SHA-256 of every byte before the summary, hexadecimal. */
  readonly sha256: string;
}

/** Names of the trailer fields (RFC 9110 §6.5) that carry the same. */
export const exportTrailers = { rows: 'X-Export-Rows', sha256: 'X-Export-SHA256' } as const;

/** How the last line of NDJSON begins. */
export const summaryStart = '{"summary":';

/** Writes the summary as the last line of NDJSON. */
export function writeSummaryLine({ rows, sha256 }: ExportSummary): string {
  return `${summaryStart}${JSON.stringify({ rows, sha256 })}}\n`;
}

/**
 * The summary that a line of NDJSON is, letter for letter as `writeSummaryLine` writes it, or
 * `undefined`.
 */
export function readSummaryLine(line: string): ExportSummary | undefined {
  const [, rows, sha256] = /^\{"summary":\{"rows":(\d{1,15}),"sha256":"([0-9a-f]{64})"\}\}\r?$/.exec(line) ?? [];
  return rows === undefined || sha256 === undefined ? undefined : { rows: Number(rows), sha256 };
}
