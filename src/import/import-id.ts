import { randomBytes } from 'node:crypto';

/** Creates the id of an import: a UUID of version 7 (RFC 9562 §5.7), which begins with the time. */
export function createImportId(nowMs: number): string {
  const random = randomBytes(10).toString('hex');
  const variant = ((Number.parseInt(random.slice(3, 4), 16) & 0x3) | 0x8).toString(16);
  return `${firstImportIdAt(nowMs)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(8)}`;
}

/** Less than the id of every import that starts at this time or later, greater than any before. */
export function firstImportIdAt(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}
