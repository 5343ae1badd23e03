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

const width = 100;
const columns = { name: 28, value: 40 };
const indent = '    ';

/** A line with the value and its origin, and below it the meaning of the setting. */
function describeSetting({ name, value, origin, description }: ShownSetting): string {
  const shown = (value === '' ? '-' : value).padEnd(columns.value);
  return [`${name.padEnd(columns.name)}  ${shown}  ${origin}`, ...wrap(description)].join('\n');
}

/** Wraps a text at spaces, with an indent before each line. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? undefined : `${lines.at(-1)} ${word}`;
    if (longer !== undefined && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(indent + word);
  }
  return lines;
}

/** The settings in force, for the operator's API; of a secret only whether it is set. */
export const listSettings = (config: Config): readonly Setting[] =>
  showConfig(config).map(({ name, value, ...rest }) => ({
    name,
    value: 'secret' in settings[name as keyof typeof settings] ? null : value,
    is_set: value !== '',
    ...rest,
  }));
