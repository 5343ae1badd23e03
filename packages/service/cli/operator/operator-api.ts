import { type Command, Option } from 'commander';
import { type ServerChoice, serverOf } from '../../../cli/remote/server.ts';
import type { CallOperation, OperatorInput, OperatorResponse } from '../../../contract/operator/operations.ts';
import type { Output } from '../../../terminal/output.ts';

/** Runs a command with the server of its options or, without one, with an open store. */
export async function withOperations<T>(choice: ServerChoice, work: (call: CallOperation) => Promise<T>): Promise<T> {
  const server = serverOf(choice);
  if (server === undefined) return (await import('./local-operations.ts')).withLocalOperations(work);
  return work((await import('../../../cli/remote/server-operations.ts')).callOn(server));
}

export const pageItems = 100;

type ListId = 'listTenants' | 'listClients' | 'listImports' | 'listOperators' | 'listAuditEntries';
type Item<Id extends ListId> = OperatorResponse<Id> extends { readonly data: (infer I)[] } ? I : never;
type Page<Id extends ListId> = { readonly data: Item<Id>[]; readonly next: string | null };

/** Reads a list page by page. */
export const listAll = async <Id extends ListId>(
  call: CallOperation,
  id: Id,
  input: Pick<OperatorInput<Id>, 'query'> = {},
): Promise<Item<Id>[]> => (await listFirst(call, id, input)).items;

/** Reads at most `max` items of a list, page by page; `hasMore` says whether the list is longer. */
export async function listFirst<Id extends ListId>(
  call: CallOperation,
  id: Id,
  { query, max = Number.POSITIVE_INFINITY }: Pick<OperatorInput<Id>, 'query'> & { readonly max?: number } = {},
): Promise<{ readonly items: Item<Id>[]; readonly hasMore: boolean }> {
  const items: Item<Id>[] = [];
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(pageItems, max - items.length);
    const page = (await call(id, { query: { ...query, limit, cursor } })) as Page<Id>;
    items.push(...page.data);
    if (page.next === null || items.length >= max) return { items, hasMore: page.next !== null };
    cursor = page.next;
  }
}

/** Says that a list is longer than what was printed. */
export function noteRest(output: Output, what: string): void {
  output.stderr.write(`Older ${what} are not listed: use a larger --limit\n`);
}

const serverOption = () =>
  new Option(
    '--server <url>',
    "run the command against the operator's API at this URL instead of the store (default: SUBREPORT_SERVER); the token comes from SUBREPORT_OPERATOR_TOKEN or SUBREPORT_OPERATOR_TOKEN_FILE",
  );

/** Adds `--server` to a command, or to all its subcommands. */
export function addServerOption(command: Command): void {
  if (command.commands.length === 0) command.addOption(serverOption());
  for (const each of command.commands) addServerOption(each);
}
