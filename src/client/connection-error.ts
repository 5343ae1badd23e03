import { ConnectionError, type ConnectionErrorCode, type ErrorContext } from './error.ts';

/**
 * How the runtimes describe a failed connection, in the error or its causes: Node.js by `code`,
 * Deno by the text, Bun by both. Browsers describe none.
 */
const kinds: readonly (readonly [RegExp, ConnectionErrorCode, string])[] = [
  [/ECONNREFUSED|ConnectionRefused|connection refused/i, 'CONNECTION_REFUSED', 'the connection was refused'],
  [/ENOTFOUND|EAI_AGAIN|dns error|failed to lookup/i, 'HOST_NOT_FOUND', 'the host name was not found'],
  [/CERT|self.signed|UNABLE_TO_VERIFY|TLS|SSL/, 'CERTIFICATE_REJECTED', 'its certificate was rejected'],
  [
    /ECONNRESET|ConnectionClosed|EPIPE|UND_ERR_SOCKET|terminated|closed|reset|reading a body/i,
    'CONNECTION_LOST',
    'the connection was closed before the response was complete',
  ],
];

/** The error of a connection that failed. */
export function connectionErrorOf(url: string, failure: unknown, context: ErrorContext): ConnectionError {
  const text = describe(failure);
  const [, code, what] = kinds.find(([pattern]) => pattern.test(text)) ?? [
    undefined,
    'NETWORK_FAILED' as const,
    'the network failed, or the browser blocked the request',
  ];
  const message = `Cannot reach ${new URL(url).origin}: it must accept the request and respond: ${what}`;
  return new ConnectionError(code, message, context, failure);
}

/** The codes and messages of an error, of its causes and of the errors that it collects. */
function describe(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const { code = '', errors = [] } = failure as { code?: unknown; errors?: unknown[] };
  const inner = failure.cause === undefined ? errors : [failure.cause, ...errors];
  return [code, failure.message, ...inner.map(describe)].join(' ');
}
