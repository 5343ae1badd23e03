import { spanRecorder } from './span.ts';

/**
 * Sends an HTTP request to another service in a span. `send` receives the headers that continue the
 * trace there.
 */
export function inRequestSpan<T>(
  url: string,
  send: (headers: Readonly<Record<string, string>>) => T,
  method = 'GET',
): T {
  const recorder = spanRecorder();
  if (recorder === undefined) return send({});
  const { hostname, port, protocol } = new URL(url);
  const attributes = {
    'http.request.method': method,
    'url.full': url,
    'server.address': hostname,
    'server.port': port === '' ? defaultPorts[protocol] : Number(port),
  };
  return recorder.inSpan(
    () => ({ name: method, kind: 'client', attributes }),
    () => send(recorder.outgoingHeaders()),
  );
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
