import type { Command } from 'commander';
import {
  ApiError,
  type SubreportClient,
  type Subscription,
  type SubscriptionHistory,
  type SubscriptionVersion,
} from '../../client/index.ts';
import { subscriptionParameters } from '../../contract/history.ts';
import { isReservedId } from '../../contract/report.ts';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { UsageError } from '../../terminal/error.ts';
import { formatFields, type Output } from '../../terminal/output.ts';
import { printable } from '../../terminal/printable.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { addParameterOptions, readParameters } from './filter-options.ts';
import {
  addOutputOptions,
  type OutputOptions,
  openScreen,
  type RowLayout,
  type Screen,
  writeResponse,
} from './record-writer.ts';
import { fieldsOf, paintStatus, subscriptionLayout } from './subscription-layout.ts';

export function addShowCommand(program: Command, output: Output): void {
  const command = program.command('show').argument('<id>', 'id of the subscription');
  addOutputOptions(addProfileOption(addParameterOptions(command, subscriptionParameters)))
    .option('--history', 'list its versions that are kept, newest first')
    .description('show all fields of one subscription, as it is or as it was')
    .addHelpText(
      'after',
      `
Examples:
  subreport show c3Vic2NyaXB0aW9uLTAwMDE=
  subreport show c3Vic2NyaXB0aW9uLTAwMDE= --as-of 2026-10-31
  subreport show c3Vic2NyaXB0aW9uLTAwMDE= --history`,
    )
    .action((id: string, options: ShowOptions) =>
      runReader(async (signal) => {
        const screen = openScreen(options, output);
        const { client } = connect(options);
        const { values, dates } = readParameters({ ...options }, subscriptionParameters);
        if (options.history === true && values['as-of'] !== undefined)
          throw new UsageError('Cannot use --history with --as-of: the history has all times: use one of them');
        if (options.history === true && values.fields !== undefined)
          throw new UsageError('Cannot use --history with --fields: a version has all fields: use one of them');
        if (isReservedId(id))
          throw new UsageError(
            `Cannot show a subscription: <id> must be that of a record, such as c3Vic2NyaXB0aW9uLTAwMDE=: current value is '${id}'`,
          );
        for (const { name, instant } of dates) screen.remark(`--${name} ${instant}`);
        const named = namingId(id);
        const read = () =>
          client.subscription(id, { ...(values as Pick<OneQuery, 'as-of' | 'fields' | 'zone'>), signal });
        if (options.history === true) await showHistory(await client.history(id, { signal }).catch(named), screen);
        else await showSubscription(await read().catch(named), screen, values.fields);
      }),
    );
}

/** Adds the id to the message: the service does not repeat what was requested. */
const namingId =
  (id: string) =>
  (error: unknown): never => {
    if (error instanceof ApiError && error.code === 'NOT_FOUND')
      error.problem.messages = error.problem.messages.map((text) => `${text}: current value is '${printable(id)}'`);
    throw error;
  };

interface ShowOptions extends ProfileOption, OutputOptions {
  readonly history?: boolean;
}

async function showHistory(history: SubscriptionHistory, screen: Screen): Promise<void> {
  const { versions, has_more: hasMore } = history;
  const remark = `Only the newest ${versions.length} versions are listed. Show an older one with --as-of.`;
  const layout = versionLayout(screen.color);
  await writeResponse(screen, { whole: history, rows: versions, layout, remarks: hasMore ? [remark] : [] });
}

const versionLayout = (color: boolean): RowLayout<SubscriptionVersion> => ({
  columns: [
    { header: 'REVISION', cell: ({ revision }) => String(revision), align: 'right' },
    { header: 'COMMITTED', cell: ({ committed_at: at }) => at ?? '-' },
    { header: 'STATUS', cell: statusOf, ...(color && { paint: paintStatus }) },
    { header: 'EXPIRES', cell: ({ record }) => record?.expirationDate ?? '-' },
    { header: 'PRODUCT', cell: ({ record }) => record?.product.name ?? '-' },
    { header: 'IMPORT', cell: ({ import_id: importId }) => importId ?? '-' },
  ],
  csvHeader: ['revision', 'committed_at', 'import_id', 'status', 'expirationDate', 'product.name'],
  csvCells: (version) => [
    String(version.revision),
    version.committed_at,
    version.import_id,
    statusOf(version),
    version.record?.expirationDate,
    version.record?.product.name,
  ],
});

const statusOf = ({ record, removed, erased }: SubscriptionVersion): string =>
  removed === true ? 'removed' : erased === true ? 'erased' : (record?.status ?? '-');

type OneQuery = NonNullable<Parameters<SubreportClient['subscription']>[1]>;

async function showSubscription(subscription: Subscription, screen: Screen, fields: string | undefined): Promise<void> {
  if (screen.format === 'table') return screen.write(`${formatFields(Object.fromEntries(fieldsOf(subscription)))}\n`);
  const layout = subscriptionLayout(false, fields);
  await writeResponse(screen, { whole: subscription, rows: [subscription], layout });
}
