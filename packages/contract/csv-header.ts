/** Separators of CSV, from the one that wins if a header has several. */
const csvSeparators = [',', ';', '\t', '|'] as const;
export type CsvSeparator = (typeof csvSeparators)[number];

/**
 * Finds out how CSV is separated from its beginning: by its line `sep=;`, or by its header, in
 * which no column has a separator in its name. Excel separates by semicolons where numbers have
 * decimal commas.
 */
export function csvSeparatorOf(head: string): CsvSeparator {
  const lines = head.replace('\ufeff', '').split(/[\r\n]+/);
  const given = /^"?sep=(.)/i.exec(lines.find((line) => line !== '') ?? '')?.[1];
  const isHead = (line: string): boolean => /[^\s,;|"]/.test(line) && !line.startsWith('#TYPE ');
  const header = lines.find(isHead) ?? lines.join('');
  const unquoted = header.replaceAll(/"(?:[^"]|"")*"/g, '');
  const separator = csvSeparators.find((each) => (given === undefined ? unquoted.includes(each) : each === given));
  return separator ?? ',';
}

/** Whether a row has only empty cells. */
export const isBlankRow = (cells: readonly string[]): boolean => {
  const first = cells[0]?.charCodeAt(0) ?? 0;
  return !(first > 32) && cells.every((cell) => cell.trim() === '');
};

/** Whether a row before the header is for a program: `sep=;` of Excel, `#TYPE …` of PowerShell. */
export const isPreamble = ([first = '', second = '']: readonly string[]): boolean =>
  (/^sep=.?$/i.test(first) && second === '') || first.startsWith('#TYPE ');

/** Reads the first rows from the beginning of CSV: the names of its columns, then cells. */
export function readCsvRows(head: string, rowsMax: number): readonly (readonly string[])[] {
  const text = head.replace('\ufeff', '');
  const separator = csvSeparatorOf(text);
  const cell = new RegExp(`("[^"]*(?:""[^"]*)*"|[^${separator}\\r\\n]*)(\\${separator}|\\r\\n|\\r|\\n|$)`, 'y');
  const rows: string[][] = [];
  for (let cells: string[] = []; cell.lastIndex < text.length && rows.length < rowsMax; ) {
    const [, content = '', end = ''] = cell.exec(text) ?? [];
    const isQuoted = content.startsWith('"');
    if (isQuoted && !/^"[^"]*(?:""[^"]*)*"$/.test(content)) break; // the quote never ends
    cells.push(isQuoted ? content.slice(1, -1).replaceAll('""', '"') : content);
    if (end === separator) continue;
    if (rows.length > 0 && !isBlankRow(cells)) rows.push(cells);
    else if (!isBlankRow(cells) && !isPreamble(cells)) rows.push(cells.map((each) => each.trim()));
    cells = [];
  }
  return rows;
}
