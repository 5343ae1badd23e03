import { announceShown } from './live-region.tsx';
import { strings } from './strings.ts';

/** Text to Excel and to LibreOffice, so that no long number is rounded and no formula runs. */
const asText = `style="mso-number-format:'\\@'" sdnum="1033;0;@"`;

/** The cells of a table, or of the two lines that a record takes in a narrow window. */
const cellOf = 'td, th, .record-line > *';

/**
 * Copies the rows of a table in which several cells are selected: whole, one line each, below the
 * headings. Other selections are copied as the browser does. In Firefox, a cell can be a range.
 */
document.addEventListener('copy', (event) => {
  const { target, clipboardData } = event;
  if (clipboardData === null || (target instanceof Element && target.closest('input, textarea') !== null)) return;
  const selection = getSelection();
  const ranges = Array.from({ length: selection?.rangeCount ?? 0 }, (_, index) => selection?.getRangeAt(index));
  const cells = [...document.querySelectorAll(cellOf)].filter((cell) =>
    ranges.some((range) => range && hasTextOf(range, cell)),
  );
  const [table, ...others] = new Set(cells.map((cell) => cell.closest('table, ul')));
  if (cells.length < 2 || !table || others.length > 0) return;
  const head = table.querySelector('thead tr');
  const rows = [...new Set(cells.map((cell) => cell.closest('tr, li')))].filter((row) => row !== head);
  const lines = [head, ...rows].flatMap((row) => (row === null ? [] : [textsOf(row)]));
  event.preventDefault();
  clipboardData.setData('text/plain', lines.map((texts) => texts.join('\t')).join('\n'));
  clipboardData.setData('text/html', `<meta charset="utf-8"><table>${lines.map(rowOf).join('')}</table>`);
  announceShown(strings.copiedRows(rows.length));
});

/** Whether a range has text of a cell: three clicks select until the edge of the next one. */
function hasTextOf(range: Range, cell: Element): boolean {
  if (!range.intersectsNode(cell)) return false;
  const part = document.createRange();
  part.selectNodeContents(cell);
  if (part.compareBoundaryPoints(Range.START_TO_START, range) < 0)
    part.setStart(range.startContainer, range.startOffset);
  if (part.compareBoundaryPoints(Range.END_TO_END, range) > 0) part.setEnd(range.endContainer, range.endOffset);
  return part.toString() !== '';
}

/** The texts of a row's cells, with the whole values of what is shown shorter, as on paper. */
const textsOf = (row: Element): string[] =>
  [...row.querySelectorAll<HTMLElement>(cellOf)].map((cell) => {
    let text = cell.innerText;
    for (const part of [cell, ...cell.querySelectorAll<HTMLElement>('[data-copied], [data-day]')]) {
      const { copied = part.dataset.day } = part.dataset;
      if (copied !== undefined) text = text.replace(part.innerText, () => copied);
    }
    return text.replaceAll(/\s+/g, ' ').trim();
  });

const rowOf = (texts: readonly string[]): string =>
  `<tr>${texts.map((text) => `<td ${asText}>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</td>`).join('')}</tr>`;
