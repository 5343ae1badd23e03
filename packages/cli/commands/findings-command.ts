import type { Command } from 'commander';
import type { SubscriptionFinding } from '../../client/index.ts';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { counted, type Output } from '../../terminal/output.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { addOutputOptions, type OutputOptions, openScreen, type RowLayout, writeResponse } from './record-writer.ts';

export function addFindingsCommand(program: Command, output: Output): void {
  const command = program.command('findings').description('find contradictions in all subscriptions');
  addOutputOptions(addProfileOption(command))
    .addHelpText(
      'after',
      `
Examples:
  subreport findings
  subreport findings --json
  subreport findings -o csv`,
    )
    .action((options: ProfileOption & OutputOptions) =>
      runReader(async (signal) => {
        const whole = await connect(options).client.findings({ signal });
        const remark = `${counted(whole.total, 'subscription')}; ends before ${whole.evaluated_at} have passed`;
        await writeResponse(openScreen(options, output), { whole, rows: whole.findings, layout, remarks: [remark] });
      }),
    );
}

const examplesOf = ({ examples }: SubscriptionFinding): string[] =>
  examples.map(({ iccid, device_id: device, product_id: product, ids }) => iccid ?? device ?? product ?? ids[0] ?? '');

const layout: RowLayout<SubscriptionFinding> = {
  columns: [
    { header: 'FINDING', cell: ({ kind }) => kind },
    { header: 'COUNT', cell: ({ count }) => count.toLocaleString('en'), align: 'right' },
    { header: 'SINCE', cell: ({ since }) => since ?? '-' },
    { header: 'EXAMPLES', cell: (finding) => examplesOf(finding).join(' ') || '-' },
  ],
  csvHeader: ['kind', 'count', 'since', 'examples'],
  csvCells: (finding) => [
    finding.kind,
    String(finding.count),
    finding.since,
    examplesOf(finding).join(' ') || undefined,
  ],
};
