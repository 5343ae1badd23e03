import { hash, randomBytes } from 'node:crypto';

/** Start of every operator's token: secret scanners recognize it, and no JWT begins with it. */
const prefix = 'sro_';

/** Whether an `Authorization` header holds an operator's token, valid or not. */
export const isOperatorHeader = (header: string | undefined): header is string => /^bearer +sro_/i.test(header ?? '');

const pattern = /^sro_[A-Za-z0-9_-]{43}$/;

/** Whether a token has the length and characters of an operator's token. */
export const isWellFormedOperatorToken = (token: string): boolean => pattern.test(token);

/** Generates an operator's token: 256 random bits in base64url after the prefix. */
export const generateOperatorToken = (): string => prefix + randomBytes(32).toString('base64url');

/**
 * Hashes an operator's token for the store. SHA-256 is enough: 256 random bits cannot be guessed,
 * and the time of a lookup by the hash says nothing about the token.
 */
export const hashOperatorToken = (token: string): string => hash('sha256', token, 'base64url');
