/** The output of a command; tests pass their own. */
export interface Output {
  /** `write` returns false while the reader is slower; `columns` is the width of the terminal. */
  readonly stdout: { write(text: string | Uint8Array): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
}

/** Writes the result of a command: one line of JSON, or text. */
export function writeResult(output: Output, json: boolean, value: unknown, human: string): void {
  output.stdout.write(json ? `${JSON.stringify(value)}\n` : `${human}\n`);
}

/** Formats rows as a table whose columns are as wide as their widest cell. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
