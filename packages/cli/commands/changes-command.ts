import { type Command, Option } from 'commander';
import {
  ApiError,
  type ChangesOptions as ChangesOptionsOfClient,
  type ChangesPage,
  type DescribedChange,
  type FollowPage,
  type SubscriptionChange,
} from '../../client/index.ts';
import { changeFilterParameters, changeParameters } from '../../contract/change.ts';
import { changesSummaryParameters } from '../../contract/changes-summary.ts';
import { defaultPageLimits } from '../../contract/report.ts';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { CommandError, UsageError } from '../../terminal/error.ts';
import { countText, type Output } from '../../terminal/output.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { writeChangesSummary } from './changes-summary.ts';
import { addParameterOptions, type GivenQuery, readSeconds } from './filter-options.ts';
import { addQueryOption, type LinkUse, readAsked, withLink } from './link-query.ts';
import { addOutputOptions, type OutputOptions, openScreen, type Screen, writeRecords } from './record-writer.ts';
import { changeLayout, describedLayout } from './subscription-layout.ts';

const { since, size, fields, zone } = changeParameters(defaultPageLimits);
const { until } = changesSummaryParameters;
const parameters = {
  since,
  ...changeFilterParameters,
  fields,
  zone,
  size: { ...size, description: 'maximum number of changes per request' },
};

const linkUse: LinkUse = {
  page: 'changes',
  parameters: { ...parameters, until },
  ignored: [],
  defaults: {},
};

interface ChangesOptions extends ProfileOption, OutputOptions {
  readonly query?: string;
  readonly since?: string;
  readonly before?: boolean;
  readonly newest?: boolean;
  readonly summary?: boolean;
  readonly until?: string;
  readonly follow?: boolean;
  readonly every: number;
  readonly kind?: string;
  readonly field?: string;
  readonly from?: string;
  readonly to?: string;
  readonly importId?: string;
  readonly fields?: string;
  readonly size?: string;
}

export function addChangesCommand(program: Command, output: Output): void {
  const command = program.command('changes').description('list the changes after a change token, or follow new ones');
  addQueryOption(addParameterOptions(command, parameters))
    .option('--before', 'add the kind of each change, its time, and the record as it was')
    .option('--newest', 'list the newest change first')
    .option('--summary', 'count the changes since --since: by kind, transition, day and import')
    .addOption(new Option('--until <date>', 'with --summary, the end of the period'))
    .option('--follow', 'wait for further changes until Ctrl-C')
    .option('--every <seconds>', 'seconds between the requests of --follow', readSeconds, 60);
  addOutputOptions(addProfileOption(command))
    .addHelpText(
      'after',
      `
Without --since, all subscriptions are listed first. To keep a copy up to date: subreport sync.

Examples:
  subreport changes --since yesterday --summary
  subreport changes --since yesterday --before
  subreport changes --since 7d --newest --field status --to DEPLETED
  subreport changes --since now --follow --every 10`,
    )
    .action((given: ChangesOptions) =>
      runReader((signal) => {
        const options = withLink(given, linkUse);
        if (given.query !== undefined && options.since === undefined)
          throw new UsageError(
            'Cannot use --query: the link begins at the last visit of a browser: the begin must be given with --since',
          );
        return writeChanges(options, output, signal);
      }),
    );
}

/** Options of `changes` that its `--summary` does not have. */
const listOptions = [
  ...(['before', 'newest', 'follow', 'kind', 'field', 'from', 'to', 'importId', 'fields', 'size'] as const),
];

/** Counts the changes of a period. */
async function countChanges(options: ChangesOptions, output: Output, signal: AbortSignal): Promise<void> {
  const screen = openScreen(options, output);
  const { values, dates } = readAsked(options, linkUse, screen, { since, until, zone });
  const others = listOptions.find((name) => options[name] !== undefined);
  if (others !== undefined)
    throw new UsageError(
      `Cannot count changes with --${others === 'importId' ? 'import-id' : others}: --summary takes only --since, --until and --zone`,
    );
  if (values.since === undefined)
    throw new UsageError('Cannot count changes: --since must be given, such as --since yesterday');
  const { client } = connect(options);
  const count = (since: string) => client.changesSummary(since, { until: values.until, zone: values.zone, signal });
  const summary = await count(values.since).catch((error: unknown) =>
    count(laterStart(error, { isDate: isDateOf(dates, values.since), screen })),
  );
  await writeChangesSummary(summary, screen);
}

async function writeChanges(options: ChangesOptions, output: Output, signal: AbortSignal): Promise<void> {
  if (options.summary === true) return countChanges(options, output, signal);
  const screen = openScreen(options, output);
  const { values, dates } = readAsked(options, linkUse, screen, parameters);
  const { since: begin, size, fields, zone, ...filters } = values;
  requireSuited(options, screen, Object.keys(filters).length > 0);
  const { client } = connect(options);
  const layout = options.before === true ? describedLayout(fields) : changeLayout(screen.color, fields);
  const writer = writeRecords<SubscriptionChange | DescribedChange>(screen, layout);
  const pages = size === undefined ? { signal } : { signal, size: Number(size) };
  let [next, count] = [begin, 0];
  const onPage = async (page: ChangesPage) => {
    await writer.page(page.changes);
    next = page.next;
    count += page.changes.length;
  };
  const follow = (since: string | undefined) =>
    client.follow({
      ...pages,
      since,
      onPage: async (page: FollowPage) => {
        if (page.reset && next !== undefined) throw resyncRequired();
        await onPage(page);
      },
      onError: (error) => screen.remark(`Retrying: ${error.message}`),
      intervalMs: options.every * 1000,
    });
  const read = async (since: string | undefined): Promise<void> => {
    const asked = {
      ...pages,
      ...filters,
      fields,
      zone,
      ...(options.newest === true && { order: 'newest' }),
      ...(options.before === true && { before: true }),
    } as ChangesOptionsOfClient<boolean>;
    for await (const page of client.changes(since, asked)) await onPage(page);
  };
  const run = options.follow === true ? follow : read;
  await run(begin).catch((error: unknown) =>
    run(laterStart(error, { isDate: next === begin && isDateOf(dates, begin), screen })),
  );
  signal.throwIfAborted();
  await writer.end();
  screen.remark(`${countText(count)} changes. Next changes: subreport changes --since ${next}`);
}

/** Throws `UsageError` for options that cannot be used together; `isFiltered` by a parameter. */
function requireSuited(
  { until, follow, before, newest, fields }: ChangesOptions,
  screen: Screen,
  isFiltered: boolean,
): void {
  if (until !== undefined) throw new UsageError('Cannot use --until without --summary: changes end now: omit it');
  if (follow === true && screen.format === 'json')
    throw new UsageError('Cannot follow as JSON: an array would never end: use -o ndjson');
  if (follow === true && (before === true || fields !== undefined || newest === true || isFiltered))
    throw new UsageError(
      'Cannot follow with --before, --newest, --fields or a filter: a copy needs all changes: omit them',
    );
}

/** Whether a value is a date such as 'yesterday', not an instant or a token. */
const isDateOf = (dates: GivenQuery['dates'], since: string | undefined): boolean =>
  dates.some(({ name, instant }) => name === 'since' && instant === since);

/**
 * Where the history begins, if that is why the changes since a date were refused, as on the first
 * day of a tenant. Throws the error again if there is another reason, or if the note that changes
 * may be missing would be suppressed.
 */
function laterStart(error: unknown, { isDate, screen }: { readonly isDate: boolean; readonly screen: Screen }): string {
  const begins = error instanceof ApiError && error.code === 'HISTORY_NOT_KEPT' && error.problem.history_begins_at;
  if (typeof begins !== 'string' || !isDate || screen.isQuiet) throw error;
  screen.remark(`The history begins at ${begins}: these are the changes since then`);
  return begins;
}

/** The output does not mark the start of a full read, so a program could not detect one. */
const resyncRequired = () =>
  new CommandError(
    'Cannot follow the changes: the change token must be valid: it is too old, or the service was restored from a backup. Read all changes again, without --since.',
  );
