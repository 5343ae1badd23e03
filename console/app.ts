import {
  ApiError,
  createClient,
  parseSubscription,
  type SubreportClient,
  type Subscription,
  type SubscriptionPage,
  type SubscriptionQuery,
  TokenRequestError,
} from '../src/client/index.ts';

/**
 * Returns the element with this id, which exists because the page and this script are deployed
 * together.
 */
function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`Cannot start the console: the page must have an element '${id}'`);
  return found;
}

const signIn = element('sign-in', HTMLFormElement);
const filters = element('filters', HTMLFormElement);
const report = element('report', HTMLElement);
const message = element('message', HTMLElement);
const previous = element('previous', HTMLButtonElement);
const next = element('next', HTMLButtonElement);
const signOut = element('sign-out', HTMLButtonElement);

/** The client holds the credentials in memory only: no storage, no cookies. */
let client: SubreportClient | undefined;
let shown: SubscriptionPage | undefined;
let shownQuery: SubscriptionQuery = {};

signIn.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = new FormData(signIn);
  const clientId = String(form.get('client_id'));
  client = createClient({
    baseUrl: `${location.origin}/connect-api`,
    tokenUrl: `${location.origin}/oauth2/token`,
    clientId,
    clientSecret: String(form.get('client_secret')),
    allowHttp: location.protocol === 'http:', // the operator has allowed it for this page
  });
  signIn.reset(); // the page keeps no copy of the secret
  element('who', HTMLElement).textContent = clientId;
  fillFilters();
  void show(queryOfFilters());
});

signOut.addEventListener('click', async () => {
  const ended = client;
  client = undefined;
  element('who', HTMLElement).textContent = '';
  element('rows', HTMLElement).replaceChildren();
  showSignedIn(false);
  say('Signed out.');
  const failure: unknown = await ended?.revoke().catch((error: unknown) => error);
  if (failure !== undefined) say(`Signed out, but the tokens are valid until they expire. ${describe(failure)}`, true);
});

filters.addEventListener('submit', (event) => {
  event.preventDefault();
  keepFilters();
  void show(queryOfFilters());
});
filters.addEventListener('reset', () => setTimeout(() => filters.requestSubmit()));
previous.addEventListener('click', () => void turnTo(shown?.previousCursor));
next.addEventListener('click', () => void turnTo(shown?.nextCursor));

/** Shows the page at a cursor of the shown one. */
async function turnTo(cursor: string | undefined): Promise<void> {
  if (cursor !== undefined) await show({ ...shownQuery, cursor });
}

/** Reads a page and shows it or the error. */
async function show(query: SubscriptionQuery): Promise<void> {
  const reader = client;
  if (reader === undefined) return;
  say('Loading …');
  try {
    const page = await reader.subscriptions(query).page();
    if (client !== reader) return; // signed out meanwhile
    shown = page;
    shownQuery = query;
    showSignedIn(true);
    drawPage(page);
  } catch (error) {
    if (client !== reader) return;
    if (error instanceof TokenRequestError) showSignedIn(false);
    say(describe(error), true);
  }
}

function drawPage({
  records,
  totalCount,
  totalPages,
  currentPage,
  nextCursor,
  previousCursor,
}: SubscriptionPage): void {
  element('rows', HTMLElement).replaceChildren(...records.map(drawRow));
  element('position', HTMLElement).textContent = `Page ${currentPage} of ${Math.max(totalPages, 1)}`;
  previous.disabled = previousCursor === undefined;
  next.disabled = nextCursor === undefined;
  say(totalCount === 0 ? 'No subscription matches these filters.' : `${totalCount.toLocaleString()} subscriptions`);
}

function drawRow(subscription: Subscription): HTMLTableRowElement {
  const { id, status, product, iccid, device_id, createdDate, activationDate, expirationDate } = subscription;
  const row = document.createElement('tr');
  const renews = parseSubscription(subscription).auto_renew ? 'yes' : 'no';
  for (const text of [
    id,
    status ?? '–',
    product.name,
    iccid,
    device_id,
    createdDate,
    activationDate,
    expirationDate,
    renews,
  ]) {
    row.insertCell().textContent = text;
  }
  return row;
}

function describe(error: unknown): string {
  if (error instanceof ApiError)
    return [...error.problem.messages, `Correlation id: ${error.problem.correlation_id}`].join('\n');
  return error instanceof Error ? error.message : String(error);
}

function say(text: string, bad = false): void {
  message.textContent = text;
  message.classList.toggle('bad', bad);
}

function showSignedIn(signedIn: boolean): void {
  signIn.hidden = signedIn;
  for (const part of [filters, report, signOut]) part.hidden = !signedIn;
}

/**
 * Returns the non-empty filters. The email is omitted from the address of the page, which may be
 * shared or logged.
 */
function queryOfFilters(): Record<string, string> {
  const entries = [...new FormData(filters)].map(([name, value]) => [name, String(value).trim()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

function keepFilters(): void {
  const { email: _email, ...query } = queryOfFilters();
  history.replaceState(null, '', `#${new URLSearchParams(query)}`);
}

function fillFilters(): void {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const field = filters.elements.namedItem(name);
    if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
  }
}
