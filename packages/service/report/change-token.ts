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
   * is unknown. If absent, it is the base.
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

/**
 * Tokens of walks with former records, which have the revision that these are from: those of
 * earlier releases, and those that say when the walk began.
 */
const describedVersion = 2;
const begunVersion = 4;

/** Tokens of walks from the newest change, which also have the walk and the clean revision. */
const newestVersion = 3;

/** The position before all changes. */
export const firstChangeKey: ChangeKey = { revision: 0, id: '' };

/** The position after all changes up to a revision. */
export const keyBehind = (revision: number): ChangeKey => ({ revision: revision + 1, id: '' });

export function encodeChangeToken({ key, fingerprint, cleanRevision, base, began, newest }: ChangeToken): string {
  const position = [key.revision, key.id, fingerprint];
  if (newest !== undefined) {
    const { floor, top } = newest;
    return encodeFields([newestVersion, ...position, base, cleanRevision, floor.revision, floor.id, top]);
  }
  const fields =
    base === undefined
      ? [version, ...position]
      : began === undefined
        ? [describedVersion, ...position, base]
        : [begunVersion, ...position, base, began];
  return encodeFields(cleanRevision === undefined ? fields : [...fields, cleanRevision]);
}

/** Decodes a token of `encodeChangeToken`; returns `undefined` for any other string. */
export function decodeChangeToken(text: string): ChangeToken | undefined {
  const [number, revision, id, fingerprint, ...others] = decodeFields(text);
  const key = readKey(revision, id);
  if (key === undefined || typeof fingerprint !== 'string') return undefined;
  const token =
    number === newestVersion
      ? newestToken(key, fingerprint, others)
      : plainToken(key, fingerprint, others, memberCounts.get(number));
  // each token has one encoding
  return token !== undefined && encodeChangeToken(token) === text ? token : undefined;
}

function readKey(revision: unknown, id: unknown): ChangeKey | undefined {
  if (!isWhole(revision) || revision < 0 || typeof id !== 'string') return undefined;
  return id !== '' && !fitsText(SubscriptionId, id) ? undefined : { revision, id };
}

/** How many members a token has between its fingerprint and its clean revision. */
const memberCounts: ReadonlyMap<unknown, number> = new Map([
  [version, 0],
  [describedVersion, 1],
  [begunVersion, 2],
]);

function plainToken(
  key: ChangeKey,
  fingerprint: string,
  others: readonly unknown[],
  count: number | undefined,
): ChangeToken | undefined {
  if (count === undefined || others.length > count + 1) return undefined;
  const [[base, began], cleanRevision] = [others.slice(0, count), others[count]];
  if (count > 0 && !(isWhole(base) && base >= -1)) return undefined;
  if (count > 1 && !(isWhole(began) && began >= -1)) return undefined;
  if (cleanRevision !== undefined && !(isWhole(cleanRevision) && cleanRevision >= key.revision)) return undefined;
  return {
    key,
    fingerprint,
    ...(cleanRevision !== undefined && { cleanRevision: cleanRevision as number }),
    ...(base !== undefined && { base: base as number }),
    ...(began !== undefined && { began: began as number }),
  };
}

function newestToken(key: ChangeKey, fingerprint: string, others: readonly unknown[]): ChangeToken | undefined {
  const [base, cleanRevision, floorRevision, floorId, top] = others;
  const floor = readKey(floorRevision, floorId);
  const isComplete = isWhole(base) && base >= -1 && isWhole(cleanRevision) && cleanRevision >= -1 && isWhole(top);
  if (others.length !== 5 || floor === undefined || !isComplete || top < key.revision) return undefined;
  return { key, fingerprint, base, cleanRevision, newest: { floor, top } };
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
  const clean = cleanRevision === undefined ? [] : [cleanRevision];
  const described = base === undefined ? [] : ['base', base, ...(began === undefined ? [] : [began])];
  const walk = newest === undefined ? [] : [newest.floor.revision, newest.floor.id, newest.top];
  return fingerprintOf(JSON.stringify([tenant, createdAt, revision, id, ...clean, ...described, ...walk]));
}
