import type { Command } from 'commander';
import { readConfig, showConfig } from './config.ts';
import { formatTable, type Output, writeResult } from './output.ts';

/** `subreport config`. */
export function addConfigCommand(program: Command, output: Output): void {
  program
    .command('config')
    .description('validate the settings and show the value and origin of each')
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExamples:\n  subreport config\n  PORT=9000 subreport config --json')
    .action(({ json = false }: { json?: boolean }) => {
      const shown = showConfig(readConfig());
      const rows = shown.map(({ name, value, origin, description }) => [
        name,
        value === '' ? '-' : value,
        origin,
        description,
      ]);
      writeResult(output, json, shown, formatTable(['SETTING', 'VALUE', 'FROM', 'MEANING'], rows));
    });
}
