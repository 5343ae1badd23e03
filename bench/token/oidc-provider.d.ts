// The library has no types; these cover the part that the benchmark uses, according to its
// documentation.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export interface StoredClient {
    readonly clientId: string;
  }

  export interface TokenContext {
    readonly oidc: { readonly client: StoredClient };
    body: unknown;
  }

  /** A kind of token that can be issued and stored. */
  interface TokenKind {
    new (
      properties: Readonly<Record<string, unknown>>,
    ): {
      resourceServer: object;
      scope: string;
      readonly expiration: number;
      addResourceScope(resource: string, scope: string): void;
      save(): Promise<string>;
    };
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly Grant: TokenKind;
    readonly AccessToken: TokenKind;
    readonly RefreshToken: TokenKind;
    readonly ResourceServer: new (
      identifier: string,
      information: object,
    ) => object;
    registerGrantType(
      name: string,
      handler: (context: TokenContext) => Promise<void>,
      parameters: readonly string[],
    ): void;
    on(event: 'server_error', listener: (context: unknown, error: Error) => void): this;
    callback(): RequestListener;
  }
}
