/** A response that is not successful, outside the report's API. */
export class RequestError extends Error {
  readonly status: number;
  readonly messages: readonly string[];
  readonly correlationId: string | undefined;
  /** The whole body, an object of RFC 9457 if the service sent it. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Readonly<Record<string, unknown>>, correlationId: string | undefined) {
    const messages = messagesOf(problem);
    super(messages[0] ?? `Status ${status}`);
    this.name = 'RequestError';
    this.status = status;
    this.messages = messages.length > 0 ? messages : [this.message];
    this.correlationId = correlationId;
    this.problem = problem;
  }
}

function messagesOf({ messages, detail }: Readonly<Record<string, unknown>>): readonly string[] {
  if (Array.isArray(messages)) return messages.map(String);
  return typeof detail === 'string' ? [detail] : [];
}

interface JsonRequest {
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The page sends it without the user: it does not extend the session. */
  readonly background?: boolean;
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
}

/** Sends a request to our own origin and returns its JSON. Rejects with `RequestError`. */
export async function requestJson<T>(path: string, request: JsonRequest = {}): Promise<T> {
  const { method = 'GET', body, headers, background = false, signal, fetch: send = fetch } = request;
  const response = await send(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(background && { 'x-background': '1' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
    credentials: 'same-origin',
  });
  const content: unknown = await response.json().catch(() => undefined);
  if (response.ok) return content as T;
  const problem = typeof content === 'object' && content !== null ? content : {};
  const correlationId = response.headers.get('x-correlation-id') ?? undefined;
  throw new RequestError(response.status, problem as Readonly<Record<string, unknown>>, correlationId);
}

/** Whether a proxy could not reach the service. */
export const isGatewayFailure = ({ status }: { readonly status: number }): boolean => status === 502 || status === 504;
