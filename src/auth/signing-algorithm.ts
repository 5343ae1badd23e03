/**
 * The algorithms that can sign access tokens (RFC 7518 §3.1, RFC 8037 §3.1): all are asymmetric, so
 * that a key that verifies cannot sign.
 */
export const signingAlgorithms = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];
