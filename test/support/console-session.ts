import type { TestClient } from './service.ts';

/** A session of a console: requests of one browser. */
export interface TestSession {
  /** The response to the sign-in. */
  readonly signedIn: Response;
  /** The cookie as the browser sends it. */
  readonly cookie: string;
  /** Sends a request of a page of the console; the path is below `/console`. */
  send(path: string, init?: RequestInit): Promise<Response>;
}

/** Headers of browsers' requests by a page of the same origin. */
export const ownPage = { 'sec-fetch-site': 'same-origin' };

/** Signs in with a body; `previous` is the cookie that the browser has. */
export async function signInWith(url: string, body: object, previous?: string): Promise<TestSession> {
  const signedIn = await fetch(`${url}/console/session`, {
    method: 'POST',
    headers: { ...ownPage, 'content-type': 'application/json', ...(previous !== undefined && { cookie: previous }) },
    body: JSON.stringify(body),
  });
  const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';');
  return {
    signedIn,
    cookie,
    send: (path, init = {}) =>
      fetch(`${url}/console${path}`, { ...init, headers: { cookie, ...ownPage, ...init.headers } }),
  };
}

/** Signs a client in to the report's console. */
export const signIn = (
  url: string,
  { client_id, client_secret }: TestClient,
  previous?: string,
): Promise<TestSession> => signInWith(url, { client_id, client_secret }, previous);
