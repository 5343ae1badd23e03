import type { Command } from 'commander';
import type { Subscription } from '../../client/index.ts';
import type { Output } from '../output.ts';
import { addProfileOption, connect, type ProfileOption } from './connection.ts';
import { printable } from './fit-table.ts';
import { runReader } from './reader-action.ts';
import {
  addOutputOptions,
  jsonOf,
  type OutputOptions,
  openScreen,
  type Screen,
  writeRecords,
} from './record-writer.ts';
import { fieldsOf, paintStatus, subscriptionLayout } from './subscription-layout.ts';

export function addShowCommand(program: Command, output: Output): void {
  addOutputOptions(addProfileOption(program.command('show').argument('<id>', 'id of the subscription')))
    .description('show all fields of one subscription')
    .addHelpText('after', '\nExample:\n  subreport show c3Vic2NyaXB0aW9uLTAwMDE=')
    .action((id: string, options: ProfileOption & OutputOptions) =>
      runReader(async (signal) => {
        const screen = openScreen(options, output);
        await showSubscription(await connect(options).client.subscription(id, { signal }), screen);
      }),
    );
}

async function showSubscription(subscription: Subscription, screen: Screen): Promise<void> {
  if (screen.format === 'json') return screen.write(`${jsonOf(subscription, 2)}\n`);
  if (screen.format === 'table') return screen.write(linesOf(subscription, screen.color));
  const writer = writeRecords(screen, subscriptionLayout(false));
  await writer.page([subscription]);
  await writer.end();
}

function linesOf(subscription: Subscription, color: boolean): string {
  const fields = [...fieldsOf(subscription)];
  const width = Math.max(...fields.map(([name]) => name.length));
  const shown = fields.map(([name, value = '-']) => {
    const text = printable(value);
    return `${name.padEnd(width)}  ${color && name === 'status' ? paintStatus(text) : text}\n`;
  });
  return shown.join('');
}
