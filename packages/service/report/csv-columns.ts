import { recordColumns } from '../../contract/csv.ts';

/**
 * Returns lines of `CsvLines`, which have all columns of a record, with some of their cells, in the
 * order of `fields`. The memory is a new one.
 */
export function selectColumns(lines: Buffer, fields: readonly string[]): Buffer {
  const columns = fields.map((name) => recordColumns.indexOf(name));
  const selected = Buffer.allocUnsafeSlow(lines.length);
  /** Where each cell begins; the last element is where the one after the last would. */
  const starts = new Uint32Array(recordColumns.length + 1);
  let to = 0;
  for (let at = 0; at < lines.length; ) {
    const start = to;
    at = findCells(lines, at, starts);
    for (const column of columns) {
      const end = (starts[column + 1] ?? 0) - 1;
      for (let from = starts[column] ?? 0; from < end; from += 1) selected[to++] = lines[from] ?? 0;
      selected[to++] = comma;
    }
    // readers skip an empty line
    if (to === start + 1) {
      selected.fill(quote, start, start + 2);
      to += 2;
    }
    selected[to - 1] = carriageReturn;
    selected[to++] = lineFeed;
  }
  return selected.subarray(0, to);
}

/** Sets where the cells of a line begin; returns where the next line does. */
function findCells(lines: Buffer, lineStart: number, starts: Uint32Array): number {
  let at = lineStart;
  for (let cell = 0; cell < starts.length - 1; cell += 1) {
    starts[cell] = at;
    // a quote inside a quoted cell is written twice, so that quotes come in pairs
    for (let isQuoted = false; isQuoted || (lines[at] !== comma && lines[at] !== carriageReturn); at += 1) {
      if (at >= lines.length) throw new RangeError('Cannot select columns of CSV: each line must have all of them');
      if (lines[at] === quote) isQuoted = !isQuoted;
    }
    at += 1;
  }
  starts[starts.length - 1] = at;
  return at + 1;
}

const [lineFeed, carriageReturn, quote, comma] = [10, 13, 0x22, 0x2c];
