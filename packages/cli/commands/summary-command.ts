import type { Command } from 'commander';
import type { SubscriptionSummary, SummaryQuery } from '../../client/index.ts';
import { summaryParameters } from '../../contract/summary.ts';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import type { Output } from '../../terminal/output.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { addParameterOptions } from './filter-options.ts';
import { addQueryOption, type LinkUse, readAsked } from './link-query.ts';
import {
  addOutputOptions,
  type OutputOptions,
  openScreen,
  type RowLayout,
  type Screen,
  writeResponse,
} from './record-writer.ts';
import { paintStatus } from './subscription-layout.ts';

/** The client library sends no email address in a URL, and a summary has no request body. */
const { email: _email, ...parameters } = summaryParameters;

const linkUse: LinkUse = {
  page: 'subscriptions',
  parameters,
  ignored: ['sort', 'page', 'size', 'fields'],
  defaults: {},
};

interface SummaryRow {
  readonly dimension: string;
  readonly value: string | null;
  readonly name?: string | undefined;
  readonly count: number;
}

export function addSummaryCommand(program: Command, output: Output): void {
  const command = program.command('summary').description('count subscriptions by status, product, plan, day and more');
  addOutputOptions(addProfileOption(addQueryOption(addParameterOptions(command, parameters))))
    .addHelpText(
      'after',
      `
To count the subscriptions of an email address: subreport list --email ADDRESS --size 1

Examples:
  subreport summary
  subreport summary --as-of 2026-10-31
  subreport summary --status ACTIVE --by product-id,month
  subreport summary --after 30d --before now --by day -o csv`,
    )
    .action((options: ProfileOption & OutputOptions & { readonly query?: string }) =>
      runReader(async (signal) => {
        const screen = openScreen(options, output);
        const { values } = readAsked(options, linkUse, screen);
        await writeSummary(await connect(options).client.summary(values as SummaryQuery, { signal }), screen);
      }),
    );
}

async function writeSummary(summary: SubscriptionSummary, screen: Screen): Promise<void> {
  if (summary.explanation !== undefined) screen.remark(summary.explanation);
  const rows = [{ dimension: 'total', value: null, count: summary.total }, ...rowsOf(summary)];
  const layout = summaryLayout(screen.color);
  const columns = layout.columns.filter(({ header }) => header !== nameHeader || rows.some(({ name }) => name));
  await writeResponse(screen, { whole: summary, rows, layout: { ...layout, columns } });
}

const rowsOf = ({ by }: SubscriptionSummary): SummaryRow[] =>
  Object.entries(by).flatMap(([dimension, counts]) =>
    (counts ?? []).map((entry: Omit<SummaryRow, 'dimension'>) => ({ dimension, ...entry })),
  );

const nameHeader = 'NAME';

const summaryLayout = (color: boolean): RowLayout<SummaryRow> => ({
  columns: [
    { header: 'DIMENSION', cell: ({ dimension }) => dimension },
    { header: 'VALUE', cell: ({ value }) => value ?? '-', ...(color && { paint: paintStatus }) },
    { header: nameHeader, cell: ({ name }) => name ?? '-' },
    { header: 'COUNT', cell: ({ count }) => count.toLocaleString('en'), align: 'right' },
  ],
  csvHeader: ['dimension', 'value', 'count', 'name'],
  csvCells: ({ dimension, value, count, name }) => [dimension, value ?? undefined, String(count), name],
});
