// The script of the API reference (`src/http/reference/docs-routes.ts`): search, sign-in and the
// forms that send requests. All requests go to the page's own origin.

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
  return `${method} ${url}\n\n${response.status} ${response.statusText}\n${shown}\n\n${indented(await response.text())}`;
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
  byId('found').textContent = search.value === '' ? '' : `${found} ${found === 1 ? 'operation' : 'operations'}`;
});
