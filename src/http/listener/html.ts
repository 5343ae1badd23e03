const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML elements and quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** A heading row and the rows of a table, whose cells are HTML. */
export function htmlTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]) => row.map((cell) => `<td>${cell}</td>`).join('');
  const head = headings.map((heading) => `<th scope="col">${heading}</th>`).join('');
  const label = escapeHtml(headings.join(', '));
  return `<div class="scroll" role="group" tabindex="0" aria-label="Table: ${label}"><table><thead><tr>${head}</tr></thead><tbody>${rows
    .map((row) => `<tr>${cells(row)}</tr>`)
    .join('')}</tbody></table></div>`;
}

/** Preformatted text that can be scrolled with the keyboard. */
export const htmlCode = (label: string, text: string): string =>
  `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${escapeHtml(text)}</code></pre>`;
