import type { StorageError } from '../error.ts';

/** The damage that this process has met, by database file; a process opens one or two. */
const damaged = new Map<string, StorageError>();

/** Remembers that a file was found damaged. */
export function noteDamage(file: string, error: StorageError): void {
  if (!damaged.has(file)) damaged.set(file, error);
}

/** The damage that this thread has met in a file. */
export const knownDamage = (file: string): StorageError | undefined => damaged.get(file);

/**
 * Throws the damage that any connection of this process has met in a file. It stays until the
 * process ends: a damaged page does not mend itself, and a restore needs a stopped service.
 */
export function requireNoKnownDamage(file: string): void {
  const damage = damaged.get(file);
  if (damage !== undefined) throw damage;
}
