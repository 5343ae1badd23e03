import { fitsText } from '../contract/schema.ts';
import { SubscriptionId } from '../contract/subscription.ts';
import type { ChangeKey } from '../storage/read/changes.ts';
import type { TenantHistory } from '../storage/tables/history.ts';
import { decodeFields, encodeFields, fingerprintOf, isWhole } from './cursor.ts';

/** A position in the changes of one tenant as `since` and `next` carry it. */
export interface ChangeToken {
  /** The last change that the reader has; an empty id stands before all changes of its revision. */
  readonly key: ChangeKey;
  /**
   * The reader's copy holds no record that was removed up to this revision, although the key lies
   * before it: the reader began without a token when the tenant was at this revision. Absent: what
   * the key says, the revision before its own.
   */
  readonly cleanRevision?: number;
  /**
   * `historyFingerprint` of the tenant and the key: another tenant's token, another store's or a
   * damaged one does not fit.
   */
  readonly fingerprint: string;
}

const version = 1;

/** The position before all changes. */
export const firstChangeKey: ChangeKey = { revision: 0, id: '' };

/** The position behind all changes up to a revision. */
export const keyBehind = (revision: number): ChangeKey => ({ revision: revision + 1, id: '' });

/** Writes a token as opaque URL-safe text. */
export function encodeChangeToken({ key, fingerprint, cleanRevision }: ChangeToken): string {
  const fields = [version, key.revision, key.id, fingerprint];
  return encodeFields(cleanRevision === undefined ? fields : [...fields, cleanRevision]);
}

/** Reads a token that `encodeChangeToken` wrote, or gives `undefined` for any other text. */
export function decodeChangeToken(text: string): ChangeToken | undefined {
  const fields = decodeFields(text);
  if (fields.length < 4 || fields.length > 5 || fields[0] !== version) return undefined;
  const [, revision, id, fingerprint, cleanRevision] = fields;
  if (!isWhole(revision) || revision < 0 || typeof id !== 'string' || typeof fingerprint !== 'string') return undefined;
  if (id !== '' && !fitsText(SubscriptionId, id)) return undefined;
  if (fields.length === 5 && !(isWhole(cleanRevision) && cleanRevision >= revision)) return undefined;
  const clean = fields.length === 5 && { cleanRevision: cleanRevision as number };
  const token: ChangeToken = { key: { revision, id }, fingerprint, ...clean };
  return encodeChangeToken(token) === text ? token : undefined; // one text for one token
}

/** The revision up to which the copy of a token's reader holds no removed record. */
export const cleanRevisionOf = ({ key, cleanRevision }: Omit<ChangeToken, 'fingerprint'>): number =>
  cleanRevision ?? key.revision - 1;

/**
 * A short fingerprint of a position in the history of one tenant of one store (32 bits): tells
 * tokens apart by accident, not by intent, as a client can read with any of them what is its own
 * tenant's and nothing else.
 */
export function historyFingerprint(
  tenant: string,
  { createdAt }: Pick<TenantHistory, 'createdAt'>,
  { key: { revision, id }, cleanRevision }: Omit<ChangeToken, 'fingerprint'>,
): string {
  const clean = cleanRevision === undefined ? [] : [cleanRevision];
  return fingerprintOf(JSON.stringify([tenant, createdAt, revision, id, ...clean]));
}
