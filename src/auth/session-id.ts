import { hash, randomBytes } from 'node:crypto';

/** Generates the id of a session: 256 random bits in base64url, 43 characters. */
export const generateSessionId = (): string => randomBytes(32).toString('base64url');

/**
 * Hashes the id of a session for the store. SHA-256 is enough: 256 random bits cannot be guessed,
 * and the time of a lookup by the hash says nothing about the id.
 */
export const hashSessionId = (id: string): string => hash('sha256', id, 'base64url');

const pattern = /^[A-Za-z0-9_-]{43}$/;

/** Whether a cookie has the length and characters of a session id. */
export const isWellFormedSessionId = (id: string): boolean => pattern.test(id);
