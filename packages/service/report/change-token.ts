import { fitsText } from '../../contract/schema.ts';
import { SubscriptionId } from '../../contract/subscription.ts';
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
   * The tenant's revision when that walk began, which says what its pages may have told; -1 if that
   * is unknown. Present with a base, unless the walk is from the newest change.
   */
  readonly began?: number;
  /**
   * Of a walk from the newest change to the oldest one; then the key is the last change that was
   * read.
   */
  readonly newest?: NewestWalk;
  /**
   * `historyFingerprint` of the tenant and the key. It differs if the token belongs to another
   * tenant or store, or is corrupted.
   */
  readonly fingerprint: string;
}

/** A walk from the newest change to the oldest one. */
export interface NewestWalk {
  /** The last change before the walk's period. */
  readonly floor: ChangeKey;
  /** The tenant's revision when the walk began. */
  readonly top: number;
}

const version = 1;

/** The position before all changes. */
export const firstChangeKey: ChangeKey = { revision: 0, id: '' };

/** The position after all changes up to a revision. */
export const keyBehind = (revision: number): ChangeKey => ({ revision: revision + 1, id: '' });

export function encodeChangeToken({ key, fingerprint, cleanRevision, base, began, newest }: ChangeToken): string {
  const walk = newest === undefined ? [] : [newest.floor.revision, newest.floor.id, newest.top];
  const revisions = [cleanRevision, base, began].map((each) => each ?? null);
  const more = revisions.some((each) => each !== null) ? [...revisions, ...walk] : walk;
  return encodeFields([version, key.revision, key.id, fingerprint, ...more]);
}

/** Decodes a token of `encodeChangeToken`; returns `undefined` for any other string. */
export function decodeChangeToken(text: string): ChangeToken | undefined {
  const [number, revision, id, fingerprint, clean = null, base = null, began = null, ...walk] = decodeFields(text);
  const key = readKey(revision, id);
  if (number !== version || key === undefined || typeof fingerprint !== 'string') return undefined;
  if (![clean, base, began].every((each) => each === null || (isWhole(each) && each >= -1))) return undefined;
  const newest = readWalk(walk);
  if (walk.length > 0 && newest === undefined) return undefined;
  const token: ChangeToken = {
    ...{ key, fingerprint },
    ...(isWhole(clean) && { cleanRevision: clean }),
    ...(isWhole(base) && { base }),
    ...(isWhole(began) && { began }),
    ...(newest && { newest }),
  };
  // each token has one encoding
  return isConsistent(token) && encodeChangeToken(token) === text ? token : undefined;
}

function isConsistent({ key, cleanRevision, base, began, newest }: ChangeToken): boolean {
  if (newest !== undefined) return base !== undefined && cleanRevision !== undefined && newest.top >= key.revision;
  return (base === undefined) === (began === undefined) && (cleanRevision ?? key.revision) >= key.revision;
}

function readWalk([revision, id, top]: readonly unknown[]): NewestWalk | undefined {
  const floor = readKey(revision, id);
  return floor === undefined || !isWhole(top) ? undefined : { floor, top };
}

function readKey(revision: unknown, id: unknown): ChangeKey | undefined {
  if (!isWhole(revision) || revision < 0 || typeof id !== 'string') return undefined;
  return id !== '' && !fitsText(SubscriptionId, id) ? undefined : { revision, id };
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
  { key: { revision, id }, cleanRevision, base, began, newest }: Omit<ChangeToken, 'fingerprint'>,
): string {
  return fingerprintOf(JSON.stringify([tenant, createdAt, revision, id, cleanRevision, base, began, newest]));
}
