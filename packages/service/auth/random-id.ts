import { randomBytes } from 'node:crypto';

/** Generates an identifier of 128 random bits in base64url, 22 characters. */
export const randomId = (): string => randomBytes(16).toString('base64url');
