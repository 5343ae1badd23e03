import { apiPath } from '../contract/report.ts';
import { ApiError, RejectionError } from './error.ts';
import type { CallOptions } from './options.ts';
import { queryStringOf } from './query.ts';
import { readJson, readProblem } from './read-response.ts';
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
  #size: number | undefined = 1_000;

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
          const body = await readJson<T>(response, attempt);
          return { body, headers: response.headers, correlationId: attempt.correlationId };
        },
      },
      options,
    );
  }

  /**
   * Runs a request for one of many pages, with the largest size up to 1,000 that the service
   * accepts. If it has a lower limit, its first rejection names it.
   */
  async widest<T>(run: (size: number | undefined) => Promise<T>): Promise<T> {
    try {
      return await run(this.#size);
    } catch (error) {
      // another server may send anything
      const faults = error instanceof ApiError && Array.isArray(error.problem.errors) ? error.problem.errors : [];
      const fault = faults.find((each) => each?.parameter === 'size');
      if (fault === undefined) throw error;
      this.#size = Number(/ to (\d+)/.exec(fault.rule)?.[1]) || undefined;
      return run(this.#size);
    }
  }

  /** Sends a request; after a 401, whatever its body, once more with a new token. */
  async send<T>(request: ApiRequest<T>, callOptions: CallOptions): Promise<T> {
    const options = { ...callOptions, correlationId: this.#sender.correlationIdOf(callOptions) };
    const tokens = this.#tokens;
    if (tokens === undefined) return this.#sendWith({}, request, options);
    const { accessToken } = await tokens.token(options);
    try {
      return await this.#sendWith(bearer(accessToken), request, options);
    } catch (error) {
      if (!(error instanceof RejectionError && error.status === 401)) throw error;
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
        readRejection: (response, context) => readProblem(response, context, this.#hintOn(response)),
      },
      options,
    );
  }
  /** A base URL without the path of the API leads to 404. */
  #hintOn({ status }: Response): string {
    const isWhole = status !== 404 || this.#baseUrl.endsWith(apiPath);
    return isWhole ? '' : `: is the base URL '${this.#baseUrl}${apiPath}'?`;
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
