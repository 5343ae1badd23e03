import { type Command, Option } from 'commander';
import { type ServerChoice, serverOf } from '../../../cli/remote/server.ts';
import {
  type CallOperation,
  type OperatorInput,
  type OperatorResponse,
  operatorApi,
} from '../../../contract/operator/operations.ts';
import { prepareFolder } from '../../storage/sqlite/folder.ts';
import { readConfig } from '../config.ts';

/** Runs a command with the server of its options or, without one, with an open store. */
export async function withOperations<T>(choice: ServerChoice, work: (call: CallOperation) => Promise<T>): Promise<T> {
  const server = serverOf(choice);
  if (server === undefined) return (await import('./local-operations.ts')).withLocalOperations(work);
  return work((await import('../../../cli/remote/server-operations.ts')).callOn(server));
}

/** For a command that may be the first of a new database: creates the file unless it exists. */
export function beginStore<T>(given: T, choice: ServerChoice): T {
  if (serverOf(choice) !== undefined) return given;
  const { DATABASE_URL, DATA_DIR } = readConfig();
  if (DATABASE_URL === undefined) prepareFolder(DATA_DIR);
  return given;
}

export const pageItems = 100;

/** An operation that returns a list. */
export type ListId =
  | 'listTenants'
  | 'listClients'
  | 'listClientSessions'
  | 'listKeys'
  | 'listImports'
  | 'listOperators'
  | 'listAuditEntries';
export type Item<Id extends ListId> = OperatorResponse<Id> extends { readonly data: (infer I)[] } ? I : never;
type Page<Id extends ListId> = { readonly data: Item<Id>[]; readonly next: string | null };

/** Reads at most `max` items of a list, page by page; `hasMore` says whether the list is longer. */
export async function listFirst<Id extends ListId>(
  call: CallOperation,
  id: Id,
  { params = {}, query, max = Number.POSITIVE_INFINITY }: OperatorInput<Id> & { readonly max?: number | undefined },
): Promise<{ readonly items: Item<Id>[]; readonly hasMore: boolean }> {
  const items: Item<Id>[] = [];
  for (let cursor: string | undefined; ; ) {
    // a list without parameters has one page
    const paging = 'query' in operatorApi[id] ? { limit: Math.min(pageItems, max - items.length), cursor } : {};
    const page = (await call(id, { params, query: { ...query, ...paging } })) as Page<Id>;
    items.push(...page.data);
    if (page.next === null || items.length >= max) return { items, hasMore: page.next !== null };
    cursor = page.next;
  }
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
