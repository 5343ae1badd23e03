import { InvalidArgumentError, Option } from 'commander';
import type { Store } from '../storage/store.ts';
import { findClient } from '../storage/tables/client.ts';
import { UsageError } from './error.ts';
import { requireTenant } from './store-session.ts';

/** Options that several commands about clients have. */
export const clientIdOption = () => new Option('--client-id <id>', 'id of the client');
export const ownerOption = () => new Option('--tenant <tenant>', 'the tenant it must belong to');
export const jsonOption = () => new Option('--json', 'print JSON');

/** Which client a command is about, and whose it must be. */
export interface ClientChoice {
  readonly clientId: string;
  readonly tenant?: string;
}

/** Makes sure that a client belongs to the tenant that was named with it, if any. */
export async function requireOwnClient(store: Store, { clientId, tenant }: ClientChoice): Promise<void> {
  if (tenant === undefined) return;
  const owner = await requireTenant(store, tenant);
  if ((await findClient(store, clientId))?.tenant !== owner) {
    throw new UsageError(`Cannot use the client: it must belong to tenant '${tenant}': current value is '${clientId}'`);
  }
}

/** Reads a list of known names, separated by commas; in the order in which they are known. */
export function parseList<T extends string>(list: string, known: readonly T[]): readonly T[] {
  const names = list.split(',').map((name) => name.trim());
  if (names.some((name) => !known.some((each) => each === name)))
    throw new InvalidArgumentError(`it must be a list of ${known.join(',')}: current value is '${list}'`);
  return known.filter((each) => names.includes(each));
}
