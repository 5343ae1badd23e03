// The script of the API reference (`packages/service/http/reference/docs-routes.ts`): copies of
// samples, their language, and search.

for (const block of document.querySelectorAll<HTMLElement>('pre[role="group"]')) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy' });
  button.setAttribute('aria-label', `Copy ${block.getAttribute('aria-label')}`);
  button.addEventListener('click', async () => {
    // a page over http has no clipboard: the text is selected instead
    const copied = await navigator.clipboard?.writeText(block.textContent ?? '').then(
      () => true,
      () => false,
    );
    if (copied === true) button.textContent = 'Copied';
    else getSelection()?.selectAllChildren(block);
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  block.before(button);
}

/** The language of the samples, remembered unless the browser blocks storage. */
function remembered(chosen?: string): string {
  try {
    if (chosen !== undefined) localStorage.setItem('subreport-docs-language', chosen);
    return localStorage.getItem('subreport-docs-language') ?? '';
  } catch {
    return '';
  }
}

/** Opens the samples in a language, for all operations. */
function showLanguage(language: string): void {
  for (const sample of document.querySelectorAll<HTMLDetailsElement>('.sample'))
    if (sample.querySelector('summary')?.textContent === language) sample.open = true;
}

for (const summary of document.querySelectorAll('.sample > summary'))
  summary.addEventListener('click', () => {
    const language = summary.textContent ?? '';
    remembered(language);
    // after the browser has opened this one
    setTimeout(() => showLanguage(language));
  });
showLanguage(remembered());

const search = document.getElementById('search') as HTMLInputElement;
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(/\s+/);
  let found = 0;
  for (const section of document.querySelectorAll<HTMLElement>('.operation')) {
    const text = section.textContent?.toLowerCase() ?? '';
    section.hidden = !words.every((word) => text.includes(word));
    if (!section.hidden) found += 1;
    const link = document.querySelector<HTMLElement>(`nav a[href="#${section.id}"]`);
    if (link?.parentElement) link.parentElement.hidden = section.hidden;
  }
  for (const group of document.querySelectorAll<HTMLElement>('main > section[aria-label]'))
    group.hidden = [...group.querySelectorAll<HTMLElement>('.operation')].every(({ hidden }) => hidden);
  for (const list of document.querySelectorAll<HTMLElement>('nav ul')) {
    const isEmpty = search.value !== '' && [...list.children].every((item) => (item as HTMLElement).hidden);
    list.hidden = isEmpty;
    if (list.previousElementSibling instanceof HTMLElement) list.previousElementSibling.hidden = isEmpty;
  }
  const status = search.value === '' ? '' : `${found} ${found === 1 ? 'operation' : 'operations'}`;
  document.getElementById('found')?.replaceChildren(status);
});
