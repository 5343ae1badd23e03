import { type Account, accessTokenOf, memberOf } from './account.ts';
import { type Check, type Finding, failed, isJson, judge, notApplicable, passed } from './check.ts';
import type { Exchange } from './requester.ts';
import { cut } from './requester.ts';

const credentials = { grant_type: 'client_credentials' };

/** A token request is rejected with a status of 400 to 499 and without a token. */
const rejected = ({ status, json }: Exchange): Finding =>
  judge(status >= 400 && status < 500 && memberOf(json, 'access_token') === undefined, `status ${status}`);

const withoutToken = (account: Account): Promise<Exchange> =>
  account.once('without token', () => account.requester.get('/v1/subscription', undefined));

const unknownGrant = (account: Account): Promise<Exchange> =>
  account.once('unknown grant', () => account.requester.postToken({ grant_type: 'urn:example:unknown' }));

/**
 * The tokens to refresh. The following checks use other tokens, unless the server issues a refresh
 * token only once.
 */
const tokens = (account: Account): Promise<Exchange> =>
  account.once('tokens', async () => {
    const exchange = await account.requester.postToken(credentials);
    return refreshTokenOf(exchange) === undefined ? account.firstToken : exchange;
  });

const refresh = async (account: Account, exchange: Exchange): Promise<Exchange> =>
  account.requester.postToken({ grant_type: 'refresh_token', refresh_token: refreshTokenOf(exchange) });

/** The response of the first refresh. */
const refreshed = (account: Account): Promise<Exchange> =>
  account.once('refreshed', async () => refresh(account, await tokens(account)));

function refreshTokenOf({ json }: Exchange): string | undefined {
  const token = memberOf(json, 'refresh_token');
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** Whether the report can be read with the access token of a response. */
async function readsReport(account: Account, exchange: Exchange): Promise<Finding> {
  const { status } = await account.requester.get('/v1/subscription?size=1', accessTokenOf(exchange));
  return judge(status === 200, `status ${status} of the report`);
}

/** A lifetime in seconds that the response states; the clock may have moved on by some seconds. */
function lifetime({ json }: Exchange, member: string, seconds: number): Finding {
  const stated = memberOf(json, member);
  if (stated === undefined) return notApplicable(`no ${member}`);
  return judge(Number(stated) > seconds - 10 && Number(stated) <= seconds, `${member} ${cut(String(stated), 20)}`);
}

/**
 * The token endpoint, and the access to the report: "Authentication" of docs/contributors/spec.md.
 */
export const tokenChecks: readonly Check[] = [
  {
    id: 'auth-1-token-required',
    sentence: 'The report is not sent without an access token: the status is 401.',
    run: async (account) => {
      const { status } = await withoutToken(account);
      return judge(status === 401, `status ${status}`);
    },
  },
  {
    id: 'auth-1-challenge',
    sentence: 'A response with status 401 has the header WWW-Authenticate.',
    needs: ['auth-1-token-required'],
    run: async (account) => {
      const challenge = (await withoutToken(account)).headers.get('www-authenticate');
      return challenge === null ? failed('no WWW-Authenticate') : passed(cut(challenge, 40));
    },
  },
  {
    id: 'auth-1-token-checked',
    sentence: 'The report is not sent for a token that the server did not issue: the status is 401.',
    run: async ({ requester }) => {
      const { status } = await requester.get('/v1/subscription', 'not-a-token');
      return judge(status === 401, `status ${status}`);
    },
  },
  {
    id: 'auth-3-grant-type',
    sentence: 'A token request without grant_type is rejected.',
    run: async ({ requester }) => rejected(await requester.postToken({})),
  },
  {
    id: 'auth-3-unknown-grant',
    sentence: 'A token request with an unknown grant_type is rejected.',
    run: async (account) => rejected(await unknownGrant(account)),
  },
  {
    id: 'auth-3-error-json',
    sentence: 'The response to a rejected token request is JSON with an error code (RFC 6749 section 5.2).',
    needs: ['auth-3-unknown-grant'],
    run: async (account) => {
      const error = memberOf((await unknownGrant(account)).json, 'error');
      return typeof error === 'string' ? passed(cut(error, 64)) : failed('no member error');
    },
  },
  {
    id: 'auth-3-client-id',
    sentence: 'A token request without client_id is rejected.',
    run: async ({ requester }) => rejected(await requester.postToken({ ...credentials, client_id: undefined })),
  },
  {
    id: 'auth-3-client-secret',
    sentence: 'A token request without client_secret is rejected.',
    run: async ({ requester }) => rejected(await requester.postToken({ ...credentials, client_secret: undefined })),
  },
  {
    id: 'auth-3-wrong-secret',
    sentence: 'A token request with a wrong client_secret is rejected.',
    run: async ({ requester }) =>
      rejected(await requester.postToken({ ...credentials, client_secret: 'wrong-secret-of-a-check' })),
  },
  {
    id: 'auth-3-charset',
    sentence: 'The media type of a token request may state its charset.',
    run: async ({ requester }) => {
      const exchange = await requester.postToken(credentials, 'application/x-www-form-urlencoded;charset=UTF-8');
      return judge(accessTokenOf(exchange) !== undefined, `status ${exchange.status}`);
    },
  },
  {
    id: 'auth-4-json',
    sentence: 'The media type of the token response is application/json.',
    run: async ({ firstToken }) => isJson(firstToken),
  },
  {
    id: 'auth-4-no-store',
    sentence: 'The token response must not be stored by caches (RFC 6749 section 5.1).',
    run: async ({ firstToken }) => {
      const control = firstToken.headers.get('cache-control') ?? '';
      return judge(/\bno-store\b/i.test(control), control === '' ? 'no Cache-Control' : cut(control, 60));
    },
  },
  {
    id: 'auth-4-token-type',
    sentence: 'The token_type of the token response is Bearer.',
    run: async ({ firstToken }) => {
      const type = cut(String(memberOf(firstToken.json, 'token_type')), 20);
      return judge(type.toLowerCase() === 'bearer', type);
    },
  },
  {
    id: 'auth-4-refresh-token',
    sentence: 'The first token response has a refresh_token.',
    run: async ({ firstToken }) =>
      refreshTokenOf(firstToken) === undefined ? failed('no refresh_token') : passed('a refresh_token'),
  },
  {
    id: 'auth-5-client-secret',
    sentence: 'A refresh without client_secret is rejected.',
    needs: ['auth-4-refresh-token'],
    run: async (account) => {
      const token = refreshTokenOf(await account.requester.postToken(credentials));
      if (token === undefined) return notApplicable('no other refresh token');
      const fields = { grant_type: 'refresh_token', refresh_token: token, client_secret: undefined };
      return rejected(await account.requester.postToken(fields));
    },
  },
  {
    id: 'auth-5-unknown-refresh-token',
    sentence: 'A refresh with a token that the server did not issue is rejected.',
    needs: ['auth-4-refresh-token'],
    run: async ({ requester }) =>
      rejected(await requester.postToken({ grant_type: 'refresh_token', refresh_token: 'not-a-refresh-token' })),
  },
  {
    id: 'auth-6-access-token',
    sentence: 'A refresh returns a new access token.',
    needs: ['auth-4-refresh-token'],
    run: async (account) => {
      const exchange = await refreshed(account);
      const token = accessTokenOf(exchange);
      if (token === undefined) return failed(`status ${exchange.status} without an access token`);
      return judge(token !== accessTokenOf(await tokens(account)), 'an access token');
    },
  },
  {
    id: 'auth-6-refresh-token',
    sentence: 'A refresh returns a new refresh token.',
    needs: ['auth-6-access-token'],
    run: async (account) => {
      const token = refreshTokenOf(await refreshed(account));
      if (token === undefined) return failed('no refresh_token');
      return judge(token !== refreshTokenOf(await tokens(account)), 'a refresh_token');
    },
  },
  {
    id: 'auth-6-report',
    sentence: 'The report can be read with the access token of a refresh.',
    needs: ['auth-6-access-token'],
    run: async (account) => readsReport(account, await refreshed(account)),
  },
  {
    id: 'auth-6-second-refresh',
    sentence: 'The refresh token of a refresh can be used for the next refresh.',
    needs: ['auth-6-refresh-token'],
    run: async (account) => {
      const exchange = await refresh(account, await refreshed(account));
      return judge(accessTokenOf(exchange) !== undefined, `status ${exchange.status}`);
    },
  },
  {
    id: 'auth-7-old-access-token',
    sentence: 'An access token stays valid for its 5 minutes after it was refreshed.',
    needs: ['auth-6-access-token'],
    run: async (account) => readsReport(account, await tokens(account)),
  },
  {
    id: 'auth-7-access-token-lifetime',
    sentence: 'Access tokens are valid for 5 minutes.',
    run: async ({ firstToken }) => lifetime(firstToken, 'expires_in', 300),
  },
  {
    id: 'auth-7-refresh-token-lifetime',
    sentence: 'Refresh tokens are valid for 30 minutes.',
    needs: ['auth-4-refresh-token'],
    run: async ({ firstToken }) => lifetime(firstToken, 'refresh_expires_in', 1800),
  },
];
