import { fitsText } from '../contract/schema.ts';
import { SubscriptionId } from '../contract/subscription.ts';
import type { ChangeKey } from '../storage/read/changes.ts';
import type { TenantHistory } from '../storage/tables/history.ts';
import { decodeFields, encodeFields, fingerprintOf, isWhole } from './cursor.ts';

/** A position in the changes of one tenant, as in `since` and `next`. */
export interface ChangeToken {
  /** The last change that the client has; an empty id comes before all changes of its revision. */
  readonly key: ChangeKey;
  /**
   * The client's copy contains no record that was removed up to this revision, although the key is
   * older: the client started without a token at this revision. If absent, it is the revision
   * before the key's.
   */
  readonly cleanRevision?: number;
  /**
   * The revision that a walk with former records describes its changes by; -1 is before all
   * records. If absent, it is the revision before the key's.
   */
  readonly base?: number;
  /**
   * `historyFingerprint` of the tenant and the key; does not match for a token of another tenant or
   * store, or a corrupted one.
   */
  readonly fingerprint: string;
}

const version = 1;

/** Tokens of walks with former records, which have the revision that these are from. */
const describedVersion = 2;

/** The position before all changes. */
export const firstChangeKey: ChangeKey = { revision: 0, id: '' };

/** The position after all changes up to a revision. */
export const keyBehind = (revision: number): ChangeKey => ({ revision: revision + 1, id: '' });

export function encodeChangeToken({ key, fingerprint, cleanRevision, base }: ChangeToken): string {
  const position = [key.revision, key.id, fingerprint];
  const fields = base === undefined ? [version, ...position] : [describedVersion, ...position, base];
  return encodeFields(cleanRevision === undefined ? fields : [...fields, cleanRevision]);
}

/** Decodes a token of `encodeChangeToken`; returns `undefined` for any other string. */
export function decodeChangeToken(text: string): ChangeToken | undefined {
  const [number, revision, id, fingerprint, ...others] = decodeFields(text);
  const isDescribed = number === describedVersion;
  if (!isDescribed && number !== version) return undefined;
  const [base, cleanRevision] = isDescribed ? others : [undefined, ...others];
  if (others.length > (isDescribed ? 2 : 1) || (isDescribed && !(isWhole(base) && base >= -1))) return undefined;
  if (!isWhole(revision) || revision < 0 || typeof id !== 'string' || typeof fingerprint !== 'string') return undefined;
  if (id !== '' && !fitsText(SubscriptionId, id)) return undefined;
  if (cleanRevision !== undefined && !(isWhole(cleanRevision) && cleanRevision >= revision)) return undefined;
  const token: ChangeToken = {
    key: { revision, id },
    fingerprint,
    ...(cleanRevision !== undefined && { cleanRevision: cleanRevision as number }),
    ...(isDescribed && { base: base as number }),
  };
  return encodeChangeToken(token) === text ? token : undefined; // each token has one encoding
}

/** The revision up to which the client's copy contains no removed record. */
export const cleanRevisionOf = ({ key, cleanRevision }: Omit<ChangeToken, 'fingerprint'>): number =>
  cleanRevision ?? key.revision - 1;

/** The revision of the client's copy, which former records are from. */
export const baseOf = ({ key, base }: ChangeToken): number => base ?? key.revision - 1;

/**
 * A 32-bit fingerprint of a position in the history of one tenant in one store. It detects
 * mistakes, not attacks: with any token, a client can read only its own tenant's records.
 */
export function historyFingerprint(
  tenant: string,
  { createdAt }: Pick<TenantHistory, 'createdAt'>,
  { key: { revision, id }, cleanRevision, base }: Omit<ChangeToken, 'fingerprint'>,
): string {
  const clean = cleanRevision === undefined ? [] : [cleanRevision];
  const described = base === undefined ? [] : ['base', base];
  return fingerprintOf(JSON.stringify([tenant, createdAt, revision, id, ...clean, ...described]));
}
