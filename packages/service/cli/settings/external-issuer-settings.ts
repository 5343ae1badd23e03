import { apiPath } from '../../../contract/report.ts';
import { hidePassword } from '../../../terminal/secret-files.ts';
import {
  anyScope,
  clientIdClaims,
  type ExternalSettings,
  externalProfiles,
} from '../../auth/provider/external-claims.ts';
import type { ProviderSettings } from '../../auth/provider/provider-sign-in.ts';
import { issuerUrl, oneOf, type Setting, secret, word } from './setting.ts';

export const externalIssuerSettings = {
  OIDC_ISSUER: issuerUrl(
    'https://id.example.com/realms/acme',
    'External identity provider whose access tokens are accepted in addition to those of this service (docs/operators/identity-providers.md); must equal the iss of its tokens exactly',
  ),
  OIDC_AUDIENCE: word(
    undefined,
    'https://reports.example.com/connect-api',
    'Value that aud of external tokens must contain; if unset, PUBLIC_URL/connect-api',
  ),
  OIDC_PROFILE: oneOf(
    externalProfiles,
    'rfc9068',
    'Profile of external tokens: RFC 9068, or Keycloak and other issuers that do not mark access tokens by typ',
  ),
  OIDC_CLIENT_ID_CLAIM: oneOf(
    clientIdClaims,
    undefined,
    'Claim of external tokens that contains the client id; if unset, client_id, and with OIDC_PROFILE=keycloak also azp',
  ),
  OIDC_SCOPE_CLAIM: word('scope', 'scp', 'Claim of external tokens that contains the scopes, as a string or an array'),
  OIDC_REQUIRED_SCOPE: word(
    undefined,
    'subscription:read',
    `Scope that external tokens need to read the report, or ${anyScope} for none; if unset, subscription:read, and with OIDC_PROFILE=keycloak none`,
  ),
  OIDC_CONSOLE_CLIENT_ID: word(
    undefined,
    'subreport-console',
    'Client id of the web console at the external identity provider, at which people then sign in (docs/operators/identity-providers.md)',
  ),
  OIDC_CONSOLE_CLIENT_SECRET: secret(
    (text) => /^[\x20-\x7e]{16,512}$/.test(text),
    'at least 16 characters of printable ASCII, as the identity provider shows it',
    'Secret of OIDC_CONSOLE_CLIENT_ID at the external identity provider',
  ),
  OIDC_CONSOLE_CLIENT_CLAIM: word(
    'subreport_client',
    'roles',
    'Claim of the ID token that names the client whose records a person may read in the web console, as a string or an array; only administrators of the identity provider may be able to change it',
  ),
} as const satisfies Record<string, Setting<unknown>>;

type Settings = typeof externalIssuerSettings;
type Values = { readonly [N in keyof Settings]: Settings[N] extends Setting<infer T> ? T : never };

/**
 * Errors of `OIDC_` settings: without `OIDC_ISSUER`, with this service as the issuer, or with half
 * of the console's credentials.
 */
export function externalFaults(
  { OIDC_ISSUER: issuer }: Values,
  publicUrl: string,
  environment: NodeJS.ProcessEnv,
): string[] {
  if (issuer === publicUrl) {
    return [`Cannot use OIDC_ISSUER: it must be another issuer than this service: current value is '${issuer}'`];
  }
  const isSet = (name: string) => environment[name] !== undefined && environment[name] !== '';
  return Object.entries(externalIssuerSettings).flatMap(([name, setting]) => {
    const missing = ['OIDC_ISSUER', partners[name] ?? name].find((each) => !isSet(each));
    if (!isSet(name) || missing === undefined) return [];
    const shown = 'secret' in setting ? '' : `: current value is '${hidePassword(environment[name] ?? '')}'`;
    return [`Cannot use ${name}: it must be set together with ${missing}${shown}`];
  });
}

/** The other half of the console's credentials. */
const partners: Readonly<Record<string, string>> = {
  OIDC_CONSOLE_CLIENT_ID: 'OIDC_CONSOLE_CLIENT_SECRET',
  OIDC_CONSOLE_CLIENT_SECRET: 'OIDC_CONSOLE_CLIENT_ID',
};

/** The external issuer of the settings; `undefined` without `OIDC_ISSUER`. */
export function externalSettings(values: Values, publicUrl: string): ExternalSettings | undefined {
  if (values.OIDC_ISSUER === undefined) return undefined;
  return {
    issuer: values.OIDC_ISSUER,
    audience: values.OIDC_AUDIENCE ?? `${publicUrl}${apiPath}`,
    profile: values.OIDC_PROFILE,
    clientIdClaim: values.OIDC_CLIENT_ID_CLAIM,
    scopeClaim: values.OIDC_SCOPE_CLAIM,
    requiredScope: values.OIDC_REQUIRED_SCOPE,
  };
}

/** The console's sign-in at the external issuer; `undefined` without its credentials. */
export function providerSettings(values: Values, publicUrl: string): ProviderSettings | undefined {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CONSOLE_CLIENT_ID: clientId,
    OIDC_CONSOLE_CLIENT_SECRET: clientSecret,
    OIDC_CONSOLE_CLIENT_CLAIM: clientClaim,
  } = values;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer, clientId, clientSecret, clientClaim, consoleUrl: `${publicUrl}/console` };
}
