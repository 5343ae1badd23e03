// The library has no types; these are the ones that the test uses, as its README describes them.
declare module 'simple-oauth2' {
  export interface ModuleOptions {
    readonly client: { readonly id: string; readonly secret: string };
    readonly auth: { readonly tokenHost: string; readonly tokenPath: string };
    readonly options?: { readonly authorizationMethod?: 'header' | 'body' };
  }

  export interface AccessToken {
    readonly token: {
      readonly access_token: string;
      readonly refresh_token: string;
      readonly token_type: string;
      readonly expires_in: number;
      readonly expires_at: Date;
    };
    /** Whether the token expires within this many seconds. */
    expired(windowSeconds?: number): boolean;
    refresh(): Promise<AccessToken>;
  }

  export class ClientCredentials {
    constructor(options: ModuleOptions);
    getToken(parameters: { readonly scope?: string }): Promise<AccessToken>;
  }
}
