/** The request that the code samples of an operation send. */
export interface SampleRequest {
  /**
   * How the request is authenticated: with an access token, an operator's token, or client
   * credentials.
   */
  readonly credentials?: 'token' | 'operator' | 'client';
  /** Values of path parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Fields of a URL-encoded body; a value that starts with `$` is an environment variable. */
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: object;
  /** A file that is the NDJSON body. */
  readonly file?: string;
  /** TypeScript statements that do the same with `client`, the client library. */
  readonly withClient?: string;
}
