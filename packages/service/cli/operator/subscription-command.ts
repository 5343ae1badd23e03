import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Option } from 'commander';
import type { ServerChoice } from '../../../cli/remote/server.ts';
import type { CallOperation } from '../../../contract/operator/operations.ts';
import { erasureIdsMax } from '../../../contract/operator/tenant.ts';
import { readIccid } from '../../../contract/read-iccid.ts';
import { fitsText, ruleOf } from '../../../contract/schema.ts';
import { SubscriptionId } from '../../../contract/subscription.ts';
import { CommandError, readFailure, UsageError } from '../../../terminal/error.ts';
import { counted, countText, writeResult } from '../../../terminal/output.ts';
import type { Given } from './inputs.ts';
import { type AddCommand, commandGroup, newCommand } from './operation-command.ts';
import { withOperations } from './operator-api.ts';

const remove: AddCommand = (parent, output) => {
  const { command, read } = newCommand(parent, {
    name: 'delete',
    operation: 'eraseSubscriptions',
    description:
      'permanently delete subscriptions, for erasure requests; clients of the change feed receive a tombstone for each',
    inputs: {
      tenant: { hint: 'the tenant of the subscriptions' },
      ids: null,
      email: { hint: 'all subscriptions of this subscriber: an email address or identifier' },
      iccid: { hint: 'all subscriptions of this ICCID' },
    },
    options: [
      () => new Option('--id <id...>', 'ids of subscriptions'),
      () => new Option('--file <file>', 'a file with one id per line, or - for standard input'),
    ],
    examples: [
      'subscription delete --tenant acme --id c3ViMQ c3ViMg',
      'subscription delete --tenant acme --file erase.txt --json',
      'subscription delete --tenant acme --email jane@example.com',
    ],
    note: 'Unknown ids are counted as missing and are not an error. Remove the subscription from the source of\nyour imports first. Rejected rows that quote it are erased from the history of imports; a misspelled\nvalue stays for 90 days.',
  });
  return command.option('--json', 'print JSON').action(async (options: DeleteOptions) => {
    const { tenant = '', email, iccid } = await read();
    const { id, file, json = false } = options;
    const ways = [id ?? file, email, iccid];
    if (ways.filter((way) => way !== undefined).length !== 1)
      throw new UsageError('Cannot delete subscriptions: either --id or --file, or --email, or --iccid must be given');
    const bodies =
      id === undefined && file === undefined
        ? [{ email, iccid: iccid && readIccid(iccid) }]
        : partsOf([...requireIds(id ?? []), ...(file === undefined ? [] : await readIds(file))]);
    const sum = await withOperations(options, (call) => erase(call, String(tenant), bodies));
    const said = `deleted ${countText(sum.deleted)} of ${counted(sum.asked, 'subscription')}, not found: ${countText(sum.missing)}, former versions: ${countText(sum.versions)}`;
    writeResult(output, json, sum, `Tenant ${tenant}: ${said}.`);
  });
};

export const addSubscriptionCommand = commandGroup('subscription', 'manage single subscriptions', [remove]);

interface DeleteOptions extends ServerChoice {
  readonly id?: readonly string[];
  readonly file?: string;
  readonly json?: boolean;
}

type Erasure = Pick<Given<'eraseSubscriptions'>, 'ids' | 'email' | 'iccid'>;

/** The ids in actions of as many as one may have. */
function partsOf(all: readonly string[]): Erasure[] {
  const ids = [...new Set(all)];
  const starts = Array.from({ length: Math.ceil(ids.length / erasureIdsMax) }, (_, part) => part * erasureIdsMax);
  return starts.map((start) => ({ ids: ids.slice(start, start + erasureIdsMax) }));
}

async function erase(call: CallOperation, tenant: string, bodies: readonly Erasure[]) {
  const sum = { tenant, asked: 0, deleted: 0, missing: 0, versions: 0 };
  // the tenant must exist all the same
  if (bodies.length === 0) await call('getTenant', { params: { tenant } });
  for (const body of bodies) {
    const part = await call('eraseSubscriptions', { params: { tenant }, body });
    sum.asked += part.asked;
    sum.deleted += part.deleted;
    sum.missing += part.missing;
    sum.versions += part.versions;
  }
  return sum;
}

function requireIds(ids: readonly string[]): readonly string[] {
  const wrong = ids.find((each) => !isId(each));
  if (wrong === undefined) return ids;
  throw new UsageError(`Cannot use --id: it must be ${idRule}: current value is '${wrong}'`);
}

const idRule = ruleOf(SubscriptionId);
const isId = (text: string): boolean => fitsText(SubscriptionId, text);

/**
 * Reads a file of ids completely before using any of them: an invalid line indicates a wrong file.
 */
async function readIds(file: string): Promise<string[]> {
  const ids: string[] = [];
  let line = 0;
  try {
    const input = file === '-' ? process.stdin : createReadStream(file);
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line += 1;
      const id = text.trim();
      if (id !== '' && !isId(id))
        throw new CommandError(`Cannot use '${file}': line ${line} must be ${idRule}; nothing was deleted`);
      if (id !== '') ids.push(id);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw readFailure(file, error);
  }
  return ids;
}
