import { isIP } from 'node:net';

/** The URL at which processes of this machine reach a listener. */
export function localUrl(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere ? '127.0.0.1' : isIP(host) === 6 ? `[${host}]` : host;
  return `${scheme}://${name}:${port}`;
}
