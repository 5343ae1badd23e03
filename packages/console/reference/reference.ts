// The script of the API reference (`packages/service/http/reference/docs-routes.ts`): search,
// sign-in and the forms that send requests. All requests go to the page's own origin.

/** The element with an id that the page always has. */
function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new TypeError(`Cannot find the element #${id}`);
  return element as T;
}

const dialog = byId<HTMLDialogElement>('credentials');
const authorize = byId<HTMLButtonElement>('authorize');

/** Credentials, kept in memory only. */
const credentials = { accessToken: '', clientId: '', clientSecret: '' };

authorize.addEventListener('click', () => dialog.showModal());
byId('cancel').addEventListener('click', () => dialog.close());

dialog.querySelector('form')?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const fields = new FormData(form);
  const refusal = await signIn(form.dataset.tokenPath ?? '', fields);
  byId('refusal').textContent = refusal;
  if (refusal !== '') return;
  form.reset();
  authorize.textContent = 'Authorized';
  showToken();
  dialog.close();
});

/** Gets an access token, or takes the given one. Returns why not, or ''. */
async function signIn(tokenPath: string, fields: FormData): Promise<string> {
  const text = (name: string): string => String(fields.get(name) ?? '');
  if (tokenPath === '') {
    credentials.accessToken = text('access_token');
    return '';
  }
  const [clientId, clientSecret] = [text('client_id'), text('client_secret')];
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  try {
    const response = await fetch(tokenPath, { method: 'POST', body });
    const result = (await response.json()) as { access_token?: string; error_description?: string };
    if (result.access_token === undefined) return result.error_description ?? `Status ${response.status}`;
    Object.assign(credentials, { accessToken: result.access_token, clientId, clientSecret });
    return '';
  } catch (error) {
    return `Cannot reach the token endpoint: ${error}`;
  }
}

for (const form of document.querySelectorAll<HTMLFormElement>('.try form')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const result = form.parentElement?.querySelector('.result');
    if (result === null || result === undefined) return;
    if (needsToken(form) && credentials.accessToken === '') {
      result.textContent = 'Authorize first.';
      dialog.showModal();
      return;
    }
    result.textContent = 'Sending…';
    result.textContent = await send(form).catch((error: unknown) => `Cannot send the request: ${error}`);
  });
}

/** Whether the operation of a form takes a Bearer token: of a client or of an operator. */
const needsToken = ({ dataset }: HTMLFormElement): boolean =>
  dataset.security === 'accessToken' || dataset.security === 'operatorToken';

/** Sends the request of a form, and returns the response as text. */
async function send(form: HTMLFormElement): Promise<string> {
  const { method = 'GET', type = '', security = '' } = form.dataset;
  const headers = new Headers(type === '' ? {} : { 'content-type': type });
  const query = new URLSearchParams();
  let path = form.dataset.path ?? '';
  let body: string | undefined;
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('[data-in]')) {
    if (field.dataset.in === 'body') body = field.value;
    else if (field.value === '') continue;
    else if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.dataset.in === 'header') headers.set(field.name, field.value);
    else query.append(field.name, field.value);
  }
  if (needsToken(form)) headers.set('authorization', `Bearer ${credentials.accessToken}`);
  if (security === 'client' && credentials.clientId !== '') headers.set('authorization', basic(credentials));
  const url = query.size === 0 ? path : `${path}?${query}`;
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  const shown = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  const answer = `${response.status} ${response.statusText}`;
  return `${method} ${url}\n${answer}\n\n${indented(await response.text())}\n\nHeaders\n${shown}`;
}

/** Basic authentication of a client, whose id and secret are form-encoded (RFC 6749 §2.3.1). */
function basic({ clientId, clientSecret }: typeof credentials): string {
  const [id, secret] = [clientId, clientSecret].map((text) => new URLSearchParams([['', text]]).toString().slice(1));
  return `Basic ${btoa(`${id}:${secret}`)}`;
}

/** JSON over several lines; other text is unchanged. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // CSV, NDJSON or empty
  }
}

const samples = [...document.querySelectorAll('.sample code')].map((code) => ({ code, text: code.textContent ?? '' }));

/** Puts the token of the dialog in place of its variable in the samples for a shell. */
function showToken(): void {
  for (const { code, text } of samples)
    code.textContent = text.replaceAll(/\$(?:ACCESS|OPERATOR)_TOKEN\b/g, credentials.accessToken);
}

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

/** Where the language of the samples is remembered. */
const languageKey = 'subreport-docs-language';

/** Opens the samples in a language, for all operations. */
function showLanguage(language: string): void {
  for (const sample of document.querySelectorAll<HTMLDetailsElement>('.sample'))
    if (sample.querySelector('summary')?.textContent === language) sample.open = true;
}

for (const summary of document.querySelectorAll('.sample > summary'))
  summary.addEventListener('click', () => {
    const language = summary.textContent ?? '';
    localStorage.setItem(languageKey, language);
    // after the browser has opened this one
    setTimeout(() => showLanguage(language));
  });
showLanguage(localStorage.getItem(languageKey) ?? '');

const search = byId<HTMLInputElement>('search');
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
  byId('found').textContent = search.value === '' ? '' : `${found} ${found === 1 ? 'operation' : 'operations'}`;
});
