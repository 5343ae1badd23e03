import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { type ServerChoice, serverOf } from '../../../cli/remote/server.ts';
import { erasureIdsMax } from '../../../contract/operator/tenant.ts';
import { fitsText, ruleOf } from '../../../contract/schema.ts';
import { SubscriptionId } from '../../../contract/subscription.ts';
import { CommandError, readFailure, UsageError } from '../../../terminal/error.ts';
import { counted, countText, type Output, writeResult } from '../../../terminal/output.ts';
import { addServerOption, withOperations } from './operator-api.ts';

interface DeleteOptions extends ServerChoice {
  readonly tenant: string;
  readonly id?: readonly string[];
  readonly file?: string;
  readonly email?: string;
  readonly iccid?: string;
  readonly json?: boolean;
}

export function addSubscriptionCommand(program: Command, output: Output): void {
  const subscription = program.command('subscription').description('manage single subscriptions');
  subscription
    .command('delete')
    .description(
      'permanently delete subscriptions, for erasure requests; clients of the change feed receive a tombstone for each',
    )
    .requiredOption('--tenant <tenant>', 'the tenant of the subscriptions')
    .option('--id <id...>', 'ids of subscriptions')
    .option('--file <file>', 'a file with one id per line, or - for standard input')
    .option('--email <value>', 'all subscriptions of this subscriber: an email address or identifier')
    .option('--iccid <value>', 'all subscriptions of this ICCID')
    .option('--json', 'print {"tenant","asked","deleted","missing"}')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport subscription delete --tenant acme --id c3ViMQ c3ViMg\n  subreport subscription delete --tenant acme --file erase.txt --json\n  subreport subscription delete --tenant acme --email jane@example.com\n\nUnknown ids are counted as missing and are not an error. Remove the subscription from the source of your imports first. Rejected rows that quote it are erased from the history of imports; a misspelled value stays for IMPORT_HISTORY_DAYS.',
    )
    .action(async ({ tenant, id = [], file, email, iccid, json = false, ...choice }: DeleteOptions) => {
      const ways = [id.length > 0 || file !== undefined, email !== undefined, iccid !== undefined];
      if (ways.filter(Boolean).length !== 1)
        throw new UsageError(
          'Cannot delete subscriptions: either --id or --file, or --email, or --iccid must be given',
        );
      const wrong = id.find((each) => !isId(each));
      if (wrong !== undefined)
        throw new UsageError(`Cannot use --id: it must be ${idRule}: current value is '${wrong}'`);
      const summary =
        email !== undefined || iccid !== undefined
          ? await withOperations(choice, (call) =>
              call('eraseSubscriptions', { params: { tenant }, body: { email, iccid } }),
            )
          : await erase(choice, tenant, [...new Set([...id, ...(file === undefined ? [] : await readIds(file))])]);
      const { asked, deleted, missing } = summary;
      writeResult(
        output,
        json,
        summary,
        `Tenant ${tenant}: deleted ${countText(deleted)} of ${counted(asked, 'subscription')}, not found: ${countText(missing)}.`,
      );
    });
  addServerOption(subscription);
}

/** Erases in one action on the store, or in requests of as many ids as a server accepts. */
function erase(choice: ServerChoice, tenant: string, ids: string[]) {
  const partIds = serverOf(choice) === undefined ? Number.MAX_SAFE_INTEGER : erasureIdsMax;
  return withOperations(choice, async (call) => {
    const sum = { tenant, asked: 0, deleted: 0, missing: 0 };
    // the tenant must exist all the same
    if (ids.length === 0) await call('getTenant', { params: { tenant } });
    for (let start = 0; start < ids.length; start += partIds) {
      const body = { ids: ids.slice(start, start + partIds) };
      const part = await call('eraseSubscriptions', { params: { tenant }, body });
      sum.asked += part.asked;
      sum.deleted += part.deleted;
      sum.missing += part.missing;
    }
    return sum;
  });
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
