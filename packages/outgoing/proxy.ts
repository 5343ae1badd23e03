import { isOnThisMachine } from '../contract/secure-url.ts';

/** The variables of proxies, for requests with and without TLS. */
const names = { 'https:': ['https_proxy', 'HTTPS_PROXY'], 'http:': ['http_proxy', 'HTTP_PROXY'] } as const;

const loopback = 'localhost,127.0.0.1,[::1],127.0.0.1-127.255.255.255';

type Variables = Readonly<Record<string, string | undefined>>;

let used: Variables = {};

/** Whether a text is a URL of a proxy; a slash in a password begins a path. */
function isProxyUrl(text: string): boolean {
  const { protocol = '', pathname } = URL.parse(text) ?? {};
  return /^https?:$/.test(protocol) && pathname === '/' && !/\s/.test(text);
}

/**
 * Sends all requests through the proxies of the environment, except those to this machine and the
 * hosts of NO_PROXY. Returns a message if a variable is no URL, or this Node.js cannot.
 */
export async function useProxies(environment: Variables): Promise<string | undefined> {
  const given = Object.values(names).flat();
  if ((environment.no_proxy || environment.NO_PROXY) === '*') return undefined;
  if (given.every((name) => !environment[name])) return undefined;
  const wrong = given.find((name) => environment[name] && !isProxyUrl(environment[name]));
  // not its value, which may have a password
  if (wrong !== undefined)
    return `Cannot use the proxy of ${wrong}: it must be a URL such as http://proxy.example.com:3128, with special characters of its password percent-encoded`;
  const direct = [environment.no_proxy || environment.NO_PROXY, loopback].filter(Boolean).join(',');
  used = Object.fromEntries([...given.map((name) => [name, environment[name]]), ['no_proxy', direct]]);
  // a third of the CPU time of a short command
  const { setGlobalProxyFromEnv }: Partial<typeof import('node:http')> = await import('node:http');
  if (setGlobalProxyFromEnv === undefined)
    return 'Cannot use the proxy of the environment: Node.js must be 24.14 or newer, or NO_PROXY=* be set';
  setGlobalProxyFromEnv(proxyVariables());
  return undefined;
}

/** The variables for an agent of Node.js. */
export const proxyVariables = (): Record<string, string> =>
  Object.fromEntries(Object.entries(used).filter((pair): pair is [string, string] => Boolean(pair[1])));

/** What follows a message about a failed request: its proxy, if any, without the credentials. */
export function describeProxy(url: string): string {
  if (isOnThisMachine(url)) return '';
  const { protocol } = new URL(url);
  const name = protocol === 'https:' || protocol === 'http:' ? names[protocol].find((each) => used[each]) : undefined;
  if (name === undefined) return '';
  const { host = '…' } = URL.parse(used[name] ?? '') ?? {};
  return `; requests to other machines go through the proxy ${host} of ${name}, unless NO_PROXY names the host`;
}
