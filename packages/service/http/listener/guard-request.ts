import type { FastifyRequest } from 'fastify';
import { shorten } from '../../../contract/problem.ts';
import { RequestError } from './error.ts';

/** Longest accepted request target in characters; the longest sensible query is a tenth of it. */
export const urlLengthMax = 8_192;

/**
 * Headers that may appear only once: servers that pick different ones, or join them as Node does
 * with most, disagree about what the request means.
 */
const singleHeaders = ['host', 'authorization', 'content-type', 'origin', 'sec-fetch-site'];

/** A host with an optional port (RFC 9110 §7.2, RFC 3986 §3.2.2). */
const hostPattern = /^(\[[0-9a-f:.]+\]|[a-z0-9\-._~!$&'()*+,;=%]*)(:[0-9]*)?$/i;

/**
 * Rejects requests that Node's parser accepts but whose meaning is ambiguous (RFC 9112 §3.2), and
 * those to a host whose name `allowsHost` does not know.
 */
export function guardRequest(
  { raw }: Pick<FastifyRequest, 'raw'>,
  allowsHost: (name: string) => boolean = () => true,
): void {
  if (raw.httpVersion !== '1.1' && raw.httpVersion !== '1.0') {
    throw unreadable('it must be HTTP/1.1');
  }
  const url = raw.url ?? '';
  if (!url.startsWith('/')) {
    throw unreadable("its target must be a path that starts with '/'");
  }
  if (url.length > urlLengthMax) {
    throw new RequestError(
      'URI_TOO_LONG',
      `Cannot read the request: its URL must have at most ${urlLengthMax} characters: current value is ${url.length}`,
    );
  }
  for (const name of singleHeaders) {
    // a list of name, value, name, value …
    if (raw.rawHeaders.filter((each, at) => at % 2 === 0 && each.toLowerCase() === name).length > 1) {
      throw unreadable(`the header '${name}' must be sent only once`);
    }
  }
  const { host, 'transfer-encoding': transferCoding = 'chunked' } = raw.headers;
  if (transferCoding.toLowerCase() !== 'chunked') {
    throw unreadable("the header 'transfer-encoding' must be chunked, or absent");
  }
  if (raw.httpVersion === '1.0' && raw.headers['transfer-encoding'] !== undefined) {
    throw unreadable("the header 'transfer-encoding' must be absent in HTTP/1.0");
  }
  if ((raw.httpVersion === '1.1' && host === undefined) || !hostPattern.test(host ?? '')) {
    throw unreadable("it must have the header 'host', a name with an optional port, such as reports.example:8080");
  }
  const name = host?.replace(/:\d*$/, '').toLowerCase();
  if (name !== undefined && !allowsHost(name)) {
    throw new RequestError(
      'INVALID_HTTP_MESSAGE',
      `Cannot accept the request: its header 'host' must be an address, localhost, or a name in MANAGEMENT_URL, MANAGEMENT_HOST or MANAGEMENT_ALLOWED_HOSTS: current value is '${shorten(name)}'`,
    );
  }
}

/** Whether the headers of a request announce a body that no operation with its method reads. */
export const announcesUnreadBody = ({ method, headers }: FastifyRequest): boolean =>
  ('transfer-encoding' in headers || Number(headers['content-length']) > 0) &&
  !['POST', 'PUT', 'PATCH'].includes(method);

/** Closes the connection: what follows may not begin where a proxy says that it does. */
const unreadable = (rule: string): RequestError =>
  new RequestError('INVALID_HTTP_MESSAGE', `Cannot read the request: ${rule}`, { headers: { connection: 'close' } });
