import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a refresh token says: its family and which generation of it. */
export interface RefreshTokenContent {
  readonly family: string;
  readonly generation: number;
}

const form = /^([A-Za-z0-9_-]{22})\.([1-9][0-9]{0,9})\.([A-Za-z0-9_-]{43})$/;

/**
 * Writes the refresh token `family.generation.HMAC-SHA256(secret, "family.generation")`. Nothing secret is kept for it: the same family and
 * generation always give the same text, and a forged one never reaches the store (RFC 9700 §4.14.2).
 */
export function writeRefreshToken({ family, generation }: RefreshTokenContent, secret: Buffer): string {
  const content = `${family}.${generation}`;
  return `${content}.${sign(content, secret).toString('base64url')}`;
}

/** Whether a text is spelled like a refresh token. */
export const isRefreshTokenForm = (text: string): boolean => form.test(text);

/** Reads a refresh token that one of our secrets signed, or gives `undefined`. */
export function readRefreshToken(text: string, secrets: readonly Buffer[]): RefreshTokenContent | undefined {
  const [, family, generation, mac] = form.exec(text) ?? [];
  if (family === undefined || generation === undefined || mac === undefined) return undefined;
  const given = Buffer.from(mac, 'base64url');
  const ours = secrets.some((secret) => timingSafeEqual(sign(`${family}.${generation}`, secret), given));
  return ours ? { family, generation: Number(generation) } : undefined;
}

const sign = (content: string, secret: Buffer): Buffer => createHmac('sha256', secret).update(content).digest();
