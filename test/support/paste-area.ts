/** A script for a page: focuses an area that keeps what is pasted into it as `window.pasted`. */
export const focusPasteArea = `(() => {
  const area = document.body.appendChild(document.createElement('textarea'));
  area.addEventListener('paste', (event) => {
    const [text, html] = ['text/plain', 'text/html'].map((type) => event.clipboardData.getData(type));
    const cells = new DOMParser().parseFromString(html, 'text/html').querySelectorAll('td');
    const written = [...cells].map((cell) => [cell.textContent, cell.getAttribute('style'), cell.getAttribute('sdnum')]);
    window.pasted = { text, cells: written };
    event.preventDefault();
    area.remove();
  });
  area.focus();
})()`;

/** What a page has pasted. */
export interface Pasted {
  readonly text: string;
  /** The text, style and format of each cell. */
  readonly cells: readonly (readonly [string, string, string])[];
}
