import { printable } from '../../terminal/printable.ts';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => string;
  /** Columns are left out of a narrow terminal in this order; never by default. */
  readonly drop?: number;
  readonly align?: 'right';
  /** Adds color to a cell that is padded already. */
  readonly paint?: (text: string) => string;
}

/** Columns with the widths that fit the terminal. */
export interface FittedTable<Row> {
  /** Headers of the columns that are left out. */
  readonly dropped: readonly string[];
  header(): string;
  line(row: Row): string;
}

const gap = 2;

/**
 * Fits columns to a width by leaving out columns. The widths are those of `rows`; further rows may
 * be formatted as well.
 */
export function fitTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width = Number.POSITIVE_INFINITY,
): FittedTable<Row> {
  let fitted = columns.map((column) => {
    const cells = rows.map((row) => displayWidth(printable(column.cell(row))));
    return { column, width: cells.reduce((a, b) => Math.max(a, b), column.header.length) };
  });
  const total = () => fitted.reduce((sum, { width: own }) => sum + gap + own, -gap);
  while (total() > width) {
    const next = Math.min(...fitted.map(({ column }) => column.drop ?? Number.POSITIVE_INFINITY));
    if (next === Number.POSITIVE_INFINITY) break;
    fitted = fitted.filter(({ column }) => column.drop !== next);
  }
  const kept = fitted.map(({ column }) => column);
  return {
    dropped: columns.filter((column) => !kept.includes(column)).map(({ header }) => header),
    header: () => joinCells(fitted, (column) => column.header),
    line: (row) => joinCells(fitted, (column) => printable(column.cell(row)), true),
  };
}

function joinCells<Row>(
  fitted: readonly { readonly column: Column<Row>; readonly width: number }[],
  textOf: (column: Column<Row>) => string,
  painted = false,
): string {
  const cells = fitted.map(({ column, width }) => {
    const text = textOf(column);
    const padding = ' '.repeat(Math.max(0, width - displayWidth(text)));
    const shown = painted && column.paint !== undefined ? column.paint(text) : text;
    return column.align === 'right' ? padding + shown : shown + padding;
  });
  return cells.join(' '.repeat(gap)).trimEnd();
}

/** Characters that terminals draw two columns wide: East Asian wide ones and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

const graphemes = new Intl.Segmenter();

/** Number of columns that a terminal uses for a printable string. */
function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}
