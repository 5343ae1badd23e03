import type { Command } from 'commander';
import type { SubscriptionFinding } from '../../client/index.ts';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { counted, type Output } from '../../terminal/output.ts';
import { runReader } from '../../terminal/reader-action.ts';
import {
  addOutputOptions,
  jsonOf,
  type OutputOptions,
  openScreen,
  type RowLayout,
  writeRecords,
} from './record-writer.ts';

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
        const screen = openScreen(options, output);
        const found = await connect(options).client.findings({ signal });
        if (screen.format === 'json') return screen.write(`${jsonOf(found, 2)}\n`);
        const writer = writeRecords(screen, layout);
        await writer.page(found.findings);
        await writer.end();
        screen.remark(`${counted(found.total, 'subscription')}; ends before ${found.evaluated_at} have passed`);
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
    { header: 'EXAMPLES', cell: (finding) => examplesOf(finding).join(' ') || '-', least: 16 },
  ],
  csvHeader: ['kind', 'count', 'since', 'examples'],
  csvCells: (finding) => [
    finding.kind,
    String(finding.count),
    finding.since,
    examplesOf(finding).join(' ') || undefined,
  ],
};
