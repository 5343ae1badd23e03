import { apiPath } from '../contract/report-paths.ts';
import { ApiError } from './error.ts';
import type { CallOptions } from './options.ts';
import { queryStringOf } from './query.ts';
import { readJson } from './read-json.ts';
import { formatError, readProblem } from './read-rejection.ts';
import type { SafeRequest, Sender } from './sender.ts';
import type { TokenSource } from './token-source.ts';

/** A response with its body parsed. */
export interface JsonResponse<T> {
  readonly body: T;
  readonly headers: Headers;
  readonly correlationId: string;
}

/** A request of the API: its path in the contract, with the query in the URL or in a JSON body. */
interface ApiRequest<T> extends Pick<SafeRequest<T>, 'read'> {
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Requests of the API. All URLs begin with the base URL. Without a token source, something else
 * authenticates them, such as a cookie.
 */
export class Api {
  readonly #baseUrl: string;
  readonly #sender: Sender;
  readonly #tokens: TokenSource | undefined;

  constructor(baseUrl: string, sender: Sender, tokens?: TokenSource) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#sender = sender;
    this.#tokens = tokens;
  }

  /** Sends a request and parses its JSON body. */
  json<T>(path: string, content: { query?: object; body?: object }, options: CallOptions): Promise<JsonResponse<T>> {
    return this.send<JsonResponse<T>>(
      {
        ...content,
        path,
        read: async (response, attempt) => {
          const body = await readJson<T>(response);
          if (body === undefined) throw formatError(response, 'JSON', attempt);
          return { body, headers: response.headers, correlationId: attempt.correlationId };
        },
      },
      options,
    );
  }

  /** Sends a request; after a 401, once more with a new token. */
  async send<T>(request: ApiRequest<T>, callOptions: CallOptions): Promise<T> {
    const options = { ...callOptions, correlationId: this.#sender.correlationIdOf(callOptions) };
    const tokens = this.#tokens;
    if (tokens === undefined) return this.#sendWith({}, request, options);
    const { accessToken } = await tokens.token(options);
    try {
      return await this.#sendWith(bearer(accessToken), request, options);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'UNAUTHORISED')) throw error;
      tokens.invalidate(accessToken);
      const renewed = await tokens.token(options);
      return await this.#sendWith(bearer(renewed.accessToken), request, options);
    }
  }

  #sendWith<T>(authorization: object, request: ApiRequest<T>, options: CallOptions): Promise<T> {
    const { path, query = {}, body, headers, read } = request;
    const queryString = queryStringOf(query);
    return this.#sender.send(
      {
        url: this.#baseUrl + path.slice(apiPath.length) + (queryString && `?${queryString}`),
        headers: {
          ...authorization,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        read,
        readRejection: readProblem,
      },
      options,
    );
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
