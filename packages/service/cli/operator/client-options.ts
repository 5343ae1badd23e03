import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ServerChoice } from '../../../cli/remote/server.ts';
import type { CallOperation } from '../../../contract/operator/operations.ts';
import { UsageError } from '../../../terminal/error.ts';
import { withOperations } from './operator-api.ts';

export const clientIdOption = () => new Option('--client-id <id>', 'id of the client');
export const jsonOption = () => new Option('--json', 'print JSON');

/** Adds a command for one client, with at least the options of `ClientChoice`. */
export const addOneClientCommand = (client: Command, name: string): Command =>
  client
    .command(name)
    .addOption(clientIdOption().makeOptionMandatory())
    .addOption(new Option('--tenant <tenant>', 'require that the client belongs to this tenant'))
    .addOption(jsonOption());

export const listOption = (name: string, known: readonly string[], note = ''): Option =>
  new Option(`--${name} <list>`, `allowed ${name}, separated by commas: ${known.join(',')}${note}`).argParser(
    (list: string) => parseList(list, known),
  );

/** The client of a command, and the tenant that it must belong to, if given. */
export interface ClientChoice extends ServerChoice {
  readonly clientId: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/**
 * Runs a command for one client; `params` are those of its operations. Throws `UsageError` if the
 * client does not belong to the given tenant.
 */
export function withOwnClient<T>(
  choice: ClientChoice,
  work: (call: CallOperation, params: { readonly client_id: string }) => Promise<T>,
): Promise<T> {
  const params = { client_id: choice.clientId };
  return withOperations(choice, async (call) => {
    await requireOwnClient(call, choice);
    return work(call, params);
  });
}

async function requireOwnClient(call: CallOperation, { clientId, tenant }: ClientChoice): Promise<void> {
  if (tenant === undefined) return;
  await call('getTenant', { params: { tenant } });
  const client = await call('getClient', { params: { client_id: clientId } });
  if (client.tenant !== tenant) {
    throw new UsageError(`Cannot use the client: it must belong to tenant '${tenant}': current value is '${clientId}'`);
  }
}

/** Parses a comma-separated list of known names; returns them in the order of `known`. */
export function parseList<T extends string>(list: string, known: readonly T[]): readonly T[] {
  const names = list.split(',').map((name) => name.trim());
  if (names.some((name) => !known.some((each) => each === name)))
    throw new InvalidArgumentError(`It must be a list of ${known.join(',')}`);
  return known.filter((each) => names.includes(each));
}
