import type { Command } from 'commander';
import type { Setting } from '../../contract/operator/setting.ts';
import { type Output, writeResult } from '../../terminal/output.ts';
import { type Config, readConfig, type ShownSetting, settings, showConfig } from './config.ts';

export function addConfigCommand(program: Command, output: Output): void {
  program
    .command('config')
    .description('validate the settings and show the value and origin of each')
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExamples:\n  subreport config\n  PORT=9000 subreport config --json')
    .action(({ json = false }: { json?: boolean }) => {
      const shown = showConfig(readConfig());
      writeResult(output, json, shown, shown.map(describeSetting).join('\n'));
    });
}

const columns = { name: 28, value: 40 };

/** A line with the value and its origin, and below it the meaning of the setting. */
function describeSetting({ name, value, origin, description }: ShownSetting): string {
  const shown = (value === '' ? '-' : value).padEnd(columns.value);
  return `${name.padEnd(columns.name)}  ${shown}  ${origin}\n${wrap(description)}`;
}

/** Wraps a text at spaces, with an indent before each line. */
const wrap = (text: string): string => text.replace(/(.{1,96}|\S+)(?: |$)/g, '    $1\n').trimEnd();

/** The settings in force, for the operator's API; of a secret only whether it is set. */
export const listSettings = (config: Config): readonly Setting[] =>
  showConfig(config).map(({ name, value, ...rest }) => ({
    name,
    value: 'secret' in settings[name as keyof typeof settings] ? null : value,
    is_set: value !== '',
    ...rest,
  }));
