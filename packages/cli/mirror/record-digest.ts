import { hash } from 'node:crypto';
import type { OriginRecord } from './origin.ts';

/** The digest of a record is needed twice: when it is compared, and when it is stored. */
const digests = new WeakMap<OriginRecord, string>();

/** A digest of a record as the origin sent it. */
export function digestOf(record: OriginRecord): string {
  const digest = digests.get(record) ?? hash('sha256', JSON.stringify(record), 'base64url').slice(0, 22);
  digests.set(record, digest);
  return digest;
}
