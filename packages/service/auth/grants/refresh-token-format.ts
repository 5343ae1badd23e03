import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AuthContext } from '../auth-context.ts';

/** The content of a refresh token: its family and its generation in it. */
export interface RefreshTokenContent {
  readonly family: string;
  readonly generation: number;
  /** Its own expiry in UTC epoch seconds, for a token that stays valid alongside its successors. */
  readonly expiresAt?: number;
}

const pattern = /^([A-Za-z0-9_-]{22})\.([1-9][0-9]{0,9})(?:\.([1-9][0-9]{0,10}))?\.([A-Za-z0-9_-]{43})$/;

/**
 * Writes the refresh token `family.generation.MAC` or `family.generation.expiry.MAC`; the MAC is
 * the HMAC-SHA256 of what precedes it. The store keeps no secret for it: the same content always
 * gives the same token, and a forged one never reaches the store (RFC 9700 §4.14.2).
 */
export function writeRefreshToken({ family, generation, expiresAt }: RefreshTokenContent, secret: Buffer): string {
  const content = [family, generation, ...(expiresAt === undefined ? [] : [expiresAt])].join('.');
  return `${content}.${sign(content, secret).toString('base64url')}`;
}

/** Reads a refresh token that one of our secrets signed, or returns `undefined`. */
function readRefreshToken(token: string, secrets: readonly Buffer[]): RefreshTokenContent | undefined {
  const [, family, generation, expiry, mac] = pattern.exec(token) ?? [];
  if (family === undefined || generation === undefined || mac === undefined) return undefined;
  const given = Buffer.from(mac, 'base64url');
  // another spelling of the same bytes is another token
  if (given.toString('base64url') !== mac) return undefined;
  const content = token.slice(0, token.lastIndexOf('.'));
  if (!secrets.some((secret) => timingSafeEqual(sign(content, secret), given))) return undefined;
  return { family, generation: Number(generation), ...(expiry !== undefined && { expiresAt: Number(expiry) }) };
}

const sign = (content: string, secret: Buffer): Buffer => createHmac('sha256', secret).update(content).digest();

/**
 * Reads a refresh token that a secret of this service protects, or returns `undefined`. Another
 * process may have created the secret a moment ago, so a well-formed token is rejected only after
 * reading the store again.
 */
export async function readOwnRefreshToken(
  { keys }: AuthContext,
  token: string,
): Promise<RefreshTokenContent | undefined> {
  if (!pattern.test(token)) return undefined;
  return (
    readRefreshToken(token, await keys.refreshSecrets()) ?? readRefreshToken(token, await keys.refreshSecrets(true))
  );
}
