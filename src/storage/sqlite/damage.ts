import type { StorageError } from '../error.ts';

/** Damage detected in this thread, by database file. */
const damaged = new Map<string, StorageError>();

/** Records that a file was found damaged. */
export function noteDamage(file: string, error: StorageError): void {
  if (!damaged.has(file)) damaged.set(file, error);
}

/**
 * The damage detected in a file, if any. Each thread has its own memory, so this is the thread's
 * view.
 */
export const knownDamage = (file: string): StorageError | undefined => damaged.get(file);

/**
 * Throws the damage detected in a file, if any. It is remembered until the process exits: a damaged
 * page does not repair itself, and a restore requires a stopped service.
 */
export function requireNoKnownDamage(file: string): void {
  const damage = damaged.get(file);
  if (damage !== undefined) throw damage;
}
