import type { StoredTokens, ValueStore } from './value-store.ts';

/** An attempt of a request, without its tokens, secrets and body. */
export interface RequestEvent {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly correlationId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A response of any status. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  readonly headers: Headers;
  /** Time from sending the request until the headers arrived. */
  readonly durationMs: number;
}

/** A failed attempt that is retried after `waitMs`. */
export interface RetryEvent extends RequestEvent {
  readonly error: Error;
  readonly waitMs: number;
}

/** How requests are sent. */
export interface RequestOptions {
  /** Time limit for the headers of a response, and again for its body; 30,000 ms by default. */
  readonly timeoutMs?: number | undefined;
  /** Maximum attempts of each request, 3 by default. */
  readonly attempts?: number | undefined;
  /** The correlation id of all calls, or a function that returns one for each call. */
  readonly correlationId?: string | (() => string) | undefined;
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** The `User-Agent` header. Browsers send their own. */
  readonly userAgent?: string | undefined;
  /** Permits http to other machines, which sends secrets and records unencrypted. */
  readonly allowHttp?: boolean | undefined;
}

/** The token endpoint: its URL, or the issuer whose metadata contains the URL. */
export type TokenEndpoint =
  | {
      readonly tokenUrl: string;
      /** The revocation endpoint; by default, `tokenUrl` with `revoke` as last segment. */
      readonly revocationUrl?: string | undefined;
      readonly issuer?: undefined;
    }
  | {
      /** Its metadata (RFC 8414, OpenID Connect Discovery) is read before the first token. */
      readonly issuer: string;
      readonly tokenUrl?: undefined;
      readonly revocationUrl?: undefined;
    };

/** Credentials. `undefined`, such as an unset environment variable, throws `TypeError`. */
interface Credentials extends RequestOptions {
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  /** Space-separated scopes; all scopes of the client by default. */
  readonly scope?: string | undefined;
  /** Shares tokens between processes or runs of a program. */
  readonly tokenStore?: ValueStore<StoredTokens> | undefined;
}

/** Credentials and how tokens are requested. */
export type TokenSourceOptions = Credentials & TokenEndpoint;

/** The URL of the service, or the base URL of the API and the token endpoint. */
type ServiceUrls =
  | ({
      /** URL of the service, which is also the issuer of its tokens unless that is given. */
      readonly url: string | undefined;
      readonly baseUrl?: undefined;
    } & (TokenEndpoint | { readonly tokenUrl?: undefined; readonly issuer?: undefined }))
  | ({
      /** Base URL of the API, including `/connect-api`. */
      readonly baseUrl: string;
      readonly url?: undefined;
    } & TokenEndpoint);

/** Options of a client. */
export type ClientOptions = Credentials & ServiceUrls;

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly correlationId?: string | undefined;
}
