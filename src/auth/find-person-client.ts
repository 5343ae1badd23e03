import type { Store } from '../storage/store.ts';
import { type ClientRow, findClient, isExternalClient } from '../storage/tables/client.ts';
import { SignInError } from './sign-in-error.ts';

/** Maximum number of names in the claim; each is looked up. */
const namesMax = 100;

/**
 * Returns the client whose records a person may read: the one active client of the external issuer
 * that the ID token names. Other names, such as roles of other applications, are ignored. Throws
 * `SignInError` if there is none, or more than one.
 */
export async function findPersonClient(store: Store, names: readonly string[]): Promise<ClientRow> {
  if (names.length > namesMax)
    throw new SignInError('SEVERAL_CLIENTS', `the claim has ${names.length} values, more than ${namesMax}`);
  const found = await Promise.all(names.map((name) => findClient(store, name)));
  const clients = found.filter((client) => client !== undefined && isActive(client));
  const [client, ...others] = clients;
  if (client === undefined)
    throw new SignInError('NO_CLIENT', 'the claim names no active client that was created with --external');
  if (others.length > 0) {
    const ids = clients.map((each) => each?.clientId).join(', ');
    throw new SignInError('SEVERAL_CLIENTS', `the claim names several clients: ${ids}`);
  }
  return client;
}

const isActive = (client: ClientRow): boolean => isExternalClient(client) && client.disabledAt === null;
