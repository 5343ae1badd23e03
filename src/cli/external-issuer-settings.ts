import {
  anyScope,
  clientIdClaims,
  type ExternalSettings,
  externalAlgorithms,
  externalProfiles,
} from '../auth/external-claims.ts';
import { apiPath } from '../contract/report-paths.ts';
import { hidePassword } from './mask-secret.ts';
import { issuerUrl, listOf, oneOf, type Setting, wholeNumber, word } from './setting.ts';

/** The settings of the external identity provider. */
export const externalIssuerSettings = {
  OIDC_ISSUER: issuerUrl(
    'https://id.example.com/realms/acme',
    'External identity provider whose access tokens are accepted in addition to those of this service (docs/identity-providers.md); must equal the iss of its tokens exactly',
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
  OIDC_TOKEN_SECONDS_MAX: wholeNumber(
    60,
    2_592_000,
    86_400,
    'Maximum age of an external token since its iat, regardless of its exp',
  ),
  OIDC_ALGORITHMS: listOf(
    externalAlgorithms,
    ['ES256', 'RS256', 'PS256', 'EdDSA'],
    'Accepted signature algorithms of external tokens',
  ),
} as const satisfies Record<string, Setting<unknown>>;

type Settings = typeof externalIssuerSettings;
type Values = { readonly [N in keyof Settings]: Settings[N] extends Setting<infer T> ? T : never };

/** Errors of `OIDC_` settings: without `OIDC_ISSUER`, or with this service as the issuer. */
export function externalFaults(
  { OIDC_ISSUER: issuer }: Values,
  publicUrl: string,
  environment: NodeJS.ProcessEnv,
): string[] {
  if (issuer === publicUrl) {
    return [`Cannot use OIDC_ISSUER: it must be another issuer than this service: current value is '${issuer}'`];
  }
  if (environment.OIDC_ISSUER !== undefined && environment.OIDC_ISSUER !== '') return [];
  return Object.keys(externalIssuerSettings)
    .filter((name) => environment[name] !== undefined && environment[name] !== '')
    .map(
      (name) =>
        `Cannot use ${name}: it must be set together with OIDC_ISSUER: current value is '${hidePassword(environment[name] ?? '')}'`,
    );
}

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
    algorithms: values.OIDC_ALGORITHMS,
    tokenSecondsMax: values.OIDC_TOKEN_SECONDS_MAX,
  };
}
