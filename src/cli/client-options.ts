import { type Command, InvalidArgumentError, Option } from 'commander';
import type { OperatorContext } from '../operator/perform.ts';
import { requireTenant } from '../operator/tenant.ts';
import type { Store } from '../storage/store.ts';
import { findClient } from '../storage/tables/client.ts';
import { withOperator } from './command-context.ts';
import { readConfig } from './config.ts';
import { UsageError } from './error.ts';

export const clientIdOption = () => new Option('--client-id <id>', 'id of the client');
export const jsonOption = () => new Option('--json', 'print JSON');

/** Adds a command for one client, with at least the options of `ClientChoice`. */
export const addOneClientCommand = (client: Command, name: string): Command =>
  client
    .command(name)
    .addOption(clientIdOption().makeOptionMandatory())
    .addOption(new Option('--tenant <tenant>', 'require that the client belongs to this tenant'));

/** The client of a command, and the tenant that it must belong to, if given. */
export interface ClientChoice {
  readonly clientId: string;
  readonly tenant?: string;
}

/**
 * Runs a command for one client with an open store. Throws `UsageError` if the client does not
 * belong to the given tenant.
 */
export function withOwnClient<T>(choice: ClientChoice, work: (context: OperatorContext) => Promise<T>): Promise<T> {
  return withOperator(readConfig(), async (context) => {
    await requireOwnClient(context.store, choice);
    return work(context);
  });
}

async function requireOwnClient(store: Store, { clientId, tenant }: ClientChoice): Promise<void> {
  if (tenant === undefined) return;
  const owner = await requireTenant(store, tenant);
  if ((await findClient(store, clientId))?.tenant !== owner) {
    throw new UsageError(`Cannot use the client: it must belong to tenant '${tenant}': current value is '${clientId}'`);
  }
}

/** Parses a comma-separated list of known names; returns them in the order of `known`. */
export function parseList<T extends string>(list: string, known: readonly T[]): readonly T[] {
  const names = list.split(',').map((name) => name.trim());
  if (names.some((name) => !known.some((each) => each === name)))
    throw new InvalidArgumentError(`it must be a list of ${known.join(',')}: current value is '${list}'`);
  return known.filter((each) => names.includes(each));
}
