import { recordFields, recordWith, valueAt } from '../../../contract/record-fields.ts';
import type { Behavior, ServerRequest, ServerResponse } from './connect-server.ts';
import { accountRecords } from './records.ts';

/** A mistake of a server, and the check that must notice it. */
export interface Mistake extends Behavior {
  readonly check: string;
  readonly does: string;
}

type Json = Record<string, unknown>;

const isToken = ({ path }: ServerRequest): boolean => path === '/token';
const isReport = ({ path }: ServerRequest): boolean => path === '/connect-api/v1/subscription';
const isRefresh = (request: ServerRequest): boolean =>
  isToken(request) && request.form.get('grant_type') === 'refresh_token';
const parameter = ({ query }: ServerRequest, name: string): string | null => new URLSearchParams(query).get(name);

/** Changes fields of a token request; `null` removes one. */
function withForm(request: ServerRequest, fields: Record<string, string>): ServerRequest {
  const form = new URLSearchParams(request.form);
  for (const [name, value] of Object.entries(fields)) if (!form.get(name)) form.set(name, value);
  return { ...request, form };
}

/** Changes parameters of a report. */
function withQuery(request: ServerRequest, change: (parameters: URLSearchParams) => void): ServerRequest {
  if (!isReport(request)) return request;
  const parameters = new URLSearchParams(request.query);
  change(parameters);
  return { ...request, query: parameters.toString() };
}

const withHeader = (response: ServerResponse, name: string, value: string): ServerResponse => ({
  ...response,
  headers: { ...response.headers, [name]: value },
});

function withoutHeader(response: ServerResponse, name: string): ServerResponse {
  const { [name]: _removed, ...headers } = response.headers;
  return { ...response, headers };
}

/** A mistake in the responses with tokens. */
const inTokens = (check: string, does: string, change: (tokens: Json, request: ServerRequest) => Json): Mistake => ({
  check,
  does,
  response: (response, request) =>
    isToken(request) && response.status === 200
      ? { ...response, json: change(response.json as Json, request) }
      : response,
});

/** A mistake in the headers of pages. */
const inPages = (
  check: string,
  does: string,
  change: (response: ServerResponse, request: ServerRequest) => ServerResponse,
): Mistake => ({
  check,
  does,
  response: (response, request) =>
    isReport(request) && response.status === 200 ? change(response, request) : response,
});

/** A mistake in one record. */
const inRecord = (check: string, does: string, change: (record: Json) => Json): Mistake =>
  inPages(check, does, (response) => ({
    ...response,
    json: (response.json as Json[]).map((record) => (record.id === 'c3Vi0008' ? change(record) : record)),
  }));

const ofProduct = (check: string, does: string, change: Json): Mistake =>
  inRecord(check, does, (record) => ({ ...record, product: { ...(record.product as Json), ...change } }));

/** A mistake in how pages are cut: `slice` gets all records of the filters. */
const cut = (
  check: string,
  does: string,
  slice: (records: Json[], page: number, size: number, request: ServerRequest) => Json[],
): Mistake => {
  const asked = new WeakMap<ServerRequest, ServerRequest>();
  return {
    check,
    does,
    request: (request) => {
      const all = withQuery(request, (parameters) => {
        parameters.set('size', '1000');
        parameters.set('page', '1');
      });
      asked.set(all, request);
      const isCut =
        isReport(request) &&
        /^\d*$/.test(parameter(request, 'size') ?? '') &&
        /^\d*$/.test(parameter(request, 'page') ?? '');
      return isCut ? all : request;
    },
    response: (response, all) => {
      const request = asked.get(all);
      if (request === undefined || response.status !== 200 || !isReport(all)) return response;
      const [page, size] = [Number(parameter(request, 'page') ?? 1), Number(parameter(request, 'size') ?? 20)];
      const records = response.json as Json[];
      const next = `http://${request.headers.host}${request.path}?${
        withQuery(request, (parameters) => parameters.set('page', String(page + 1))).query
      }`;
      const { 'x-next-page': _replaced, ...headers } = response.headers;
      const pages = Math.ceil(records.length / size);
      const paging = {
        ...(page < pages && { 'x-next-page': next }),
        'x-total-pages': String(pages),
        'x-current-page': String(page),
        'x-count-per-page': String(size),
      };
      return { ...response, headers: { ...headers, ...paging }, json: slice(records, page, size, request) };
    },
  };
};

const serverError = (response: ServerResponse): ServerResponse => ({
  ...response,
  status: 500,
  json: { error: 'oops' },
});
const tokenOfNobody = { authorization: 'Bearer access-0' };

const tokenMistakes: readonly Mistake[] = [
  {
    check: 'auth-1-token-required',
    does: 'sends the report to everybody',
    request: (request) =>
      request.headers.authorization === undefined
        ? { ...request, headers: { ...request.headers, ...tokenOfNobody } }
        : request,
  },
  {
    check: 'auth-1-token-required',
    does: 'rejects a request without a token with 403',
    response: (response, { headers }) =>
      response.status === 401 && headers.authorization === undefined ? { ...response, status: 403 } : response,
  },
  {
    check: 'auth-1-challenge',
    does: 'sends 401 without WWW-Authenticate',
    response: (response) => withoutHeader(response, 'www-authenticate'),
  },
  {
    check: 'auth-1-token-checked',
    does: 'accepts every token',
    request: (request) =>
      request.headers.authorization === undefined
        ? request
        : { ...request, headers: { ...request.headers, ...tokenOfNobody } },
  },
  {
    check: 'auth-3-grant-type',
    does: 'takes client_credentials for granted',
    request: (request) => withForm(request, { grant_type: 'client_credentials' }),
  },
  {
    check: 'auth-3-unknown-grant',
    does: 'issues a token for any grant',
    request: (request) =>
      request.form.get('grant_type')?.startsWith('urn:')
        ? {
            ...request,
            form: new URLSearchParams(
              [...request.form].map(([name, value]) => [name, name === 'grant_type' ? 'client_credentials' : value]),
            ),
          }
        : request,
  },
  {
    check: 'auth-3-error-json',
    does: 'explains token errors in HTML',
    response: (response, request) =>
      isToken(request) && response.status >= 400 ? { ...response, body: '<h1>Bad Request</h1>' } : response,
  },
  {
    check: 'auth-3-client-id',
    does: 'finds the client by its secret',
    request: (request) => withForm(request, { client_id: 'acme-reporting' }),
  },
  {
    check: 'auth-3-client-secret',
    does: 'fails with 500 for a client_credentials request without a secret',
    response: (response, request) =>
      isToken(request) && !isRefresh(request) && !request.form.has('client_secret') ? serverError(response) : response,
  },
  {
    check: 'auth-3-wrong-secret',
    does: 'does not compare the secret',
    request: (request) =>
      request.form.get('client_secret')?.startsWith('wrong')
        ? {
            ...request,
            form: new URLSearchParams({
              grant_type: 'client_credentials',
              client_id: 'acme-reporting',
              client_secret: 'q7Z2kVb9XcN4mRt8LwPyD3sGfHjA6uEe',
            }),
          }
        : request,
  },
  {
    check: 'auth-3-charset',
    does: 'compares the whole Content-Type',
    response: (response, { headers }) =>
      headers['content-type']?.includes('charset')
        ? { ...response, status: 415, json: { error: 'invalid_request' } }
        : response,
  },
  {
    check: 'auth-4-json',
    does: 'sends tokens as text/html',
    response: (response, request) => (isToken(request) ? withHeader(response, 'content-type', 'text/html') : response),
  },
  {
    check: 'auth-4-no-store',
    does: 'lets caches store tokens',
    response: (response, request) =>
      isToken(request) ? withHeader(response, 'cache-control', 'max-age=60') : response,
  },
  inTokens('auth-4-token-type', 'calls its tokens mac', (tokens) => ({ ...tokens, token_type: 'mac' })),
  inTokens('auth-4-refresh-token', 'issues no refresh token', ({ refresh_token: _none, ...tokens }) => tokens),
  {
    check: 'auth-5-client-secret',
    does: 'refreshes without the secret',
    request: (request) =>
      isRefresh(request) ? withForm(request, { client_secret: 'q7Z2kVb9XcN4mRt8LwPyD3sGfHjA6uEe' }) : request,
  },
  {
    check: 'auth-5-unknown-refresh-token',
    does: 'accepts every refresh token',
    request: (request) => {
      const form = new URLSearchParams(request.form);
      if (form.get('refresh_token') === 'not-a-refresh-token') form.set('refresh_token', 'refresh-1');
      return { ...request, form };
    },
  },
  inTokens('auth-6-access-token', 'returns the old access token at a refresh', (tokens, { form }) =>
    form.has('refresh_token')
      ? { ...tokens, access_token: form.get('refresh_token')?.replace('refresh', 'access') }
      : tokens,
  ),
  {
    check: 'auth-6-access-token',
    does: 'rejects refreshes',
    response: (response, request) =>
      isRefresh(request) && response.status === 200
        ? { ...response, status: 400, json: { error: 'invalid_grant' } }
        : response,
  },
  inTokens('auth-6-refresh-token', 'returns no refresh token at a refresh', (tokens, { form }) =>
    form.has('refresh_token') ? { ...tokens, refresh_token: undefined } : tokens,
  ),
  inTokens('auth-6-refresh-token', 'returns the old refresh token at a refresh', (tokens, { form }) =>
    form.has('refresh_token') ? { ...tokens, refresh_token: form.get('refresh_token') } : tokens,
  ),
  inTokens('auth-6-report', 'returns an access token at a refresh that nobody accepts', (tokens, { form }) =>
    form.has('refresh_token') ? { ...tokens, access_token: 'stale' } : tokens,
  ),
  inTokens('auth-6-second-refresh', 'returns a refresh token at a refresh that nobody accepts', (tokens, { form }) =>
    form.has('refresh_token') ? { ...tokens, refresh_token: 'stale' } : tokens,
  ),
  revokesAtRefresh(),
  inTokens('auth-7-access-token-lifetime', 'issues tokens for an hour', (tokens) => ({ ...tokens, expires_in: 3600 })),
  inTokens('auth-7-access-token-lifetime', 'states ten seconds too few', (tokens) => ({ ...tokens, expires_in: 290 })),
  inTokens('auth-7-access-token-lifetime', 'states a second too many', (tokens) => ({ ...tokens, expires_in: 301 })),
  inTokens('auth-7-refresh-token-lifetime', 'counts milliseconds', (tokens) => ({
    ...tokens,
    refresh_expires_in: 1_800_000,
  })),
];

/** A refresh ends the access token of its refresh token. */
function revokesAtRefresh(): Mistake {
  const revoked = new Set<string>();
  return {
    check: 'auth-7-old-access-token',
    does: 'revokes the old access token at a refresh',
    request: (request) => {
      if (isRefresh(request) && request.form.has('client_secret'))
        revoked.add(`Bearer ${request.form.get('refresh_token')?.replace('refresh', 'access')}`);
      const isRevoked = revoked.has(request.headers.authorization ?? '');
      return isRevoked ? { ...request, headers: { authorization: 'Bearer stale' } } : request;
    },
  };
}

const recordMistakes: readonly Mistake[] = [
  inPages('response-json', 'sends the report as text/plain', (response) =>
    withHeader(response, 'content-type', 'text/plain'),
  ),
  inPages('response-utf8', 'sends the report in Latin 1', (response) => ({
    ...response,
    body: Buffer.from(JSON.stringify(response.json), 'latin1'),
  })),
  inRecord('record-id', 'has an id that is a number', (record) => ({ ...record, id: 8 })),
  inRecord('record-id', 'has an id that is not safe in URLs', (record) => ({ ...record, id: 'c3Vi/0008+' })),
  inRecord('record-status', 'sends null for an absent status', (record) => ({ ...record, status: null })),
  inRecord('record-status', 'sends an empty status', (record) => ({ ...record, status: '' })),
  inRecord('record-activation-date', 'sends epoch milliseconds', (record) => ({
    ...record,
    activationDate: 1_714_521_600_000,
  })),
  inRecord('record-expiration-date', 'sends an offset', (record) => ({
    ...record,
    expirationDate: '2024-06-01T02:00:00+02:00',
  })),
  inRecord('record-created-date', 'sends a day that does not exist', (record) => ({
    ...record,
    createdDate: '2024-05-00T00:00:00Z',
  })),
  inRecord('record-created-date', 'sends no createdDate', ({ createdDate: _none, ...record }) => record),
  inRecord('record-product', 'sends the name of the product only', (record) => ({ ...record, product: 'Europe 5 GB' })),
  inRecord('record-product', 'sends the product in an array', (record) => ({ ...record, product: [record.product] })),
  inRecord('record-product', 'sends null for the product', (record) => ({ ...record, product: null })),
  ofProduct('record-product-id', 'sends a number', { id: 30 }),
  ofProduct('record-product-id', 'sends an empty id', { id: '' }),
  ofProduct('record-product-name', 'sends null for an absent name', { name: null }),
  ofProduct('record-product-period', 'sends the period as a string', { period: '30' }),
  ofProduct('record-product-period-unit', 'sends no unit', { period_unit: null }),
  ofProduct('record-product-period-unit', 'sends an empty unit', { period_unit: '' }),
  inRecord('record-device-id', 'sends no device_id', ({ device_id: _none, ...record }) => record),
  inRecord('record-auto-renew', 'sends a JSON boolean', (record) => ({ ...record, auto_renew: true })),
];

/** Of the fields that have no other mistake: another type. */
const typeMistakes: readonly Mistake[] = recordFields.flatMap((changed) => {
  const check = `record-${changed.column.replaceAll('_', '-')}`;
  if (recordMistakes.some((mistake) => mistake.check === check)) return [];
  const wrong = changed.type === 'integer' ? '7' : 7;
  const change = (record: Json) => recordWith((field) => (field === changed ? wrong : valueAt(record, field)));
  return [inRecord(check, `sends ${changed.name} as a ${typeof wrong}`, change)];
});

const pagingMistakes: readonly Mistake[] = [
  shuffles(),
  {
    check: 'paging-size',
    does: 'ignores size',
    request: (request) => withQuery(request, (parameters) => parameters.delete('size')),
  },
  {
    check: 'paging-first-page',
    does: 'begins with the second page',
    request: (request) =>
      withQuery(request, (parameters) => {
        if (!parameters.has('page')) parameters.set('page', '2');
      }),
  },
  {
    check: 'paging-page',
    does: 'ignores page',
    request: (request) => withQuery(request, (parameters) => parameters.delete('page')),
  },
  cut('paging-no-repeat', 'repeats a record on the second page', (records, page, size) => {
    const from = (page - 1) * size - (page > 1 && size > 1 ? 1 : 0);
    return records.slice(from, from + size);
  }),
  cut('paging-full-pages', 'removes a record of the second page after the page was cut', (records, page, size) =>
    records.slice((page - 1) * size, page * size).filter((_, at) => page !== 2 || at !== 3),
  ),
  cut('paging-sizes-agree', 'leaves out a record between two pages', (records, page, size) =>
    size === 1 ? records.slice(page - 1, page) : records.slice((page - 1) * (size + 1), (page - 1) * (size + 1) + size),
  ),
  cut('paging-sizes-agree', 'has another order on small pages', (records, page, size) =>
    (size > 1 && size < 10 ? records.toReversed() : records).slice((page - 1) * size, page * size),
  ),
  cut('paging-past-end', 'begins again after the last page', (records, page, size) => {
    const at = (page - 1) % Math.max(1, Math.ceil(records.length / size));
    return records.slice(at * size, (at + 1) * size);
  }),
  {
    check: 'paging-past-end',
    does: 'fails for a page number that is far too large',
    response: (response, request) => (Number(parameter(request, 'page')) > 10_000 ? serverError(response) : response),
  },
  nextPage('paging-next-page', 'skips a page', (next) =>
    next.replace(/page=(\d+)/, (_, page) => `page=${Number(page) + 1}`),
  ),
  nextPage('paging-next-page', 'names its internal address', (next) => next.replace('127.0.0.1', 'backend.internal')),
  inPages('paging-next-page-ends', 'sends X-Next-Page with every page', (response, request) => {
    const page = Number(parameter(request, 'page') ?? 1);
    const [size, host] = [parameter(request, 'size') ?? '20', request.headers.host];
    const filters = withQuery(request, (parameters) => {
      parameters.set('size', size);
      parameters.set('page', String(page + 1));
    }).query;
    return withHeader(response, 'x-next-page', `http://${host}${request.path}?${filters}`);
  }),
  inPages('total-count', 'estimates the total of the account', (response, request) =>
    /iccid|product-id|before|after/.test(request.query)
      ? response
      : withHeader(response, 'x-total-count', String(Number(response.headers['x-total-count']) + 1)),
  ),
  changesTotal(),
  inPages('total-pages', 'rounds the number of pages down', (response, request) => {
    const size = Number(parameter(request, 'size') ?? 20);
    return withHeader(response, 'x-total-pages', String(Math.floor(Number(response.headers['x-total-count']) / size)));
  }),
  inPages('total-current-page', 'counts pages from 0 in X-Current-Page', (response) =>
    withHeader(response, 'x-current-page', String(Number(response.headers['x-current-page']) - 1)),
  ),
  inPages('total-count-per-page', 'sends the default size', (response) =>
    withHeader(response, 'x-count-per-page', '20'),
  ),
];

/** Each response of the whole account has another total. */
function changesTotal(): Mistake {
  let turn = 0;
  return inPages('total-count', 'sends another total each time, for the same records', (response, request) => {
    if (/iccid|product-id|before|after/.test(request.query)) return response;
    turn += 1;
    const [total, size] = [57 + turn, Number(parameter(request, 'size') ?? 20)];
    const pages = String(Math.ceil(total / size));
    return withHeader(withHeader(response, 'x-total-count', String(total)), 'x-total-pages', pages);
  });
}

/** Each response has another order. */
function shuffles(): Mistake {
  let turn = 0;
  return cut('stable-page', 'returns records in the order of the day', (records, page, size) => {
    turn += 7;
    const rotated = [...records.slice(turn % records.length), ...records.slice(0, turn % records.length)];
    return rotated.slice((page - 1) * size, page * size);
  });
}

function nextPage(check: string, does: string, change: (next: string) => string): Mistake {
  return inPages(check, does, (response) => {
    const next = response.headers['x-next-page'];
    return next === undefined ? response : withHeader(response, 'x-next-page', change(next));
  });
}

/** A filter that the server does not know. */
const ignores = (check: string, name: string): Mistake => ({
  check,
  does: `ignores ${name}`,
  request: (request) => withQuery(request, (parameters) => parameters.delete(name)),
});

/** A filter that takes a similar value for that of a record. */
function finds(
  name: 'iccid' | 'product-id',
  does: string,
  isSimilar: (known: string, value: string) => boolean,
): Mistake {
  const known = accountRecords(57).map((record) => (name === 'iccid' ? record.iccid : record.product.id));
  return {
    check: `parameter-${name}`,
    does,
    request: (request) =>
      withQuery(request, (parameters) => {
        const value = parameters.get(name);
        const similar = known.find((each) => value !== null && isSimilar(each, value));
        if (similar !== undefined && !known.includes(value ?? '')) parameters.set(name, similar);
      }),
  };
}

const filterMistakes: readonly Mistake[] = [
  ignores('parameter-iccid', 'iccid'),
  inPages('parameter-iccid', 'returns one record of an ICCID', (response, request) =>
    request.query.includes('iccid=8') && !request.query.includes('product')
      ? { ...response, json: (response.json as Json[]).slice(0, 1) }
      : response,
  ),
  ignores('parameter-product-id', 'product-id'),
  finds('product-id', 'finds products by the beginning of product-id', (id, value) => id.startsWith(value)),
  finds('product-id', 'finds products by a part of product-id', (id, value) => id.slice(1).includes(value)),
  finds('product-id', 'ignores the case of product-id', (id, value) => id.toLowerCase() === value.toLowerCase()),
  finds('iccid', 'finds SIMs by the beginning of iccid', (id, value) => id.startsWith(value)),
  {
    check: 'parameter-encoding',
    does: 'does not decode product-id',
    request: (request) => ({ ...request, query: request.query.replace(/product-id=%/, 'product-id=%25') }),
  },
  {
    check: 'parameter-and',
    does: 'uses the first of two filters',
    request: (request) =>
      withQuery(request, (parameters) => {
        if (parameters.has('iccid')) parameters.delete('product-id');
      }),
  },
  ignores('parameter-before', 'before'),
  ignores('parameter-after', 'after'),
  {
    check: 'parameter-before',
    does: 'exchanges before and after',
    request: (request) =>
      withQuery(request, (parameters) => {
        const before = parameters.get('before');
        if (before === null || parameters.has('after')) return;
        parameters.delete('before');
        parameters.set('after', before);
      }),
  },
  {
    check: 'parameter-between',
    does: 'uses the last of two bounds',
    request: (request) =>
      withQuery(request, (parameters) => {
        if (parameters.has('before')) parameters.delete('after');
      }),
  },
  {
    check: 'parameter-between',
    does: 'leaves out a record between two bounds',
    response: (response, { query }) =>
      /before=/.test(query) && /after=/.test(query) && Array.isArray(response.json)
        ? { ...response, json: response.json.toSpliced(1, 1) }
        : response,
  },
  {
    check: 'date-fraction',
    does: 'rejects fractions of a second',
    response: (response, { query }) =>
      /=[^&]*\.\d{3}Z/.test(query) ? { ...response, status: 400, json: {} } : response,
  },
  {
    check: 'date-fraction-counts',
    does: 'cuts off fractions of a second',
    request: (request) => ({ ...request, query: request.query.replace(/\.\d{3}Z/g, 'Z') }),
  },
  {
    check: 'date-encoded',
    does: 'does not decode dates',
    response: (response, { query }) => (query.includes('%3A') ? { ...response, status: 400, json: {} } : response),
  },
  inPages('response-empty', 'sends 404 if nothing matches a filter', (response, request) =>
    /iccid|product-id/.test(request.query) && (response.json as Json[]).length === 0
      ? { ...response, status: 404, json: { type: 'NOT_FOUND' } }
      : response,
  ),
  inPages('response-empty', 'sends null if nothing matches', (response) =>
    (response.json as Json[]).length === 0 ? { ...response, json: null } : response,
  ),
  inPages('total-filtered', 'sends the total of the account with filters', (response) =>
    withHeader(response, 'x-total-count', '57'),
  ),
  nextPage('parameter-next-page', 'loses the filters', (next) => next.replace(/product-id=[^&]*&/, '')),
];

const rejectsHeader = (name: string): Mistake => ({
  check: `header-${name}`,
  does: `rejects requests with ${name}`,
  response: (response, request) =>
    isReport(request) && request.headers[name] !== undefined ? { ...response, status: 400, json: {} } : response,
});

const demandsHeader = (name: string): Mistake => ({
  check: 'header-optional',
  does: `demands ${name}`,
  response: (response, request) =>
    isReport(request) && response.status !== 401 && request.headers[name] === undefined
      ? { ...response, status: 415, json: {} }
      : response,
});

const failsFor = (check: string, pattern: RegExp): Mistake => ({
  check,
  does: `fails with 500 for ${pattern.source}`,
  response: (response, { query }) => (pattern.test(query) ? serverError(response) : response),
});

const requestMistakes: readonly Mistake[] = [
  ...['cache-control', 'content-type', 'x-correlation-id'].flatMap((name) => [
    rejectsHeader(name),
    demandsHeader(name),
  ]),
  {
    check: 'header-optional',
    does: 'demands two headers',
    response: (response, request) =>
      [demandsHeader('content-type'), demandsHeader('x-correlation-id')].reduce(
        (last, { response: change }) => change?.(last, request) ?? last,
        response,
      ),
  },
  {
    check: 'error-malformed-date',
    does: 'ignores a malformed date',
    request: (request) => ({ ...request, query: request.query.replace('&before=yesterday', '') }),
  },
  failsFor('error-malformed-date', /before=yesterday/),
  failsFor('error-malformed-size', /size=many/),
  failsFor('error-malformed-page', /page=first/),
  failsFor('error-negative-page', /page=-1/),
  {
    check: 'error-unknown-path',
    does: 'redirects unknown paths to its home page',
    response: (response, { path }) => (path.endsWith('no-such-operation') ? { ...response, status: 302 } : response),
  },
  {
    check: 'error-json',
    does: 'sends a page of HTML with 401',
    response: (response, request) =>
      response.status === 401 && !isToken(request) ? { ...response, body: '<html></html>' } : response,
  },
];

/** Mistakes of servers, each planted alone. */
export const mistakes: readonly Mistake[] = [
  ...tokenMistakes,
  ...recordMistakes,
  ...typeMistakes,
  ...pagingMistakes,
  ...filterMistakes,
  ...requestMistakes,
];
