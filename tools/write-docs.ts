import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { TSchema } from 'typebox';
import { buildProgram } from '../src/cli/command-line.ts';
import { describeSetting, settings } from '../src/cli/config.ts';
import { changeParameters } from '../src/contract/change.ts';
import { defaultPageLimits } from '../src/contract/page-limits.ts';
import { reportParameters } from '../src/contract/query.ts';
import { descriptionOf, ruleOf } from '../src/contract/schema.ts';
import { summaryParameters } from '../src/contract/summary.ts';
import { arrowPictureAndTable } from './arrows.ts';
import { clientReference } from './client-reference.ts';
import { withGeneratedPart } from './generated-part.ts';
import { licenseTable } from './license-table.ts';
import { manPage } from './man-page.ts';

/** The generated parts of the documentation, by file: each is between two markers. */
export const generatedParts: Readonly<Record<string, () => string>> = {
  'ARCHITECTURE.md': arrowPictureAndTable,
  'docs/settings.md': settingsTable,
  'docs/report.md': () => parametersTable(reportParameters(defaultPageLimits)),
  'docs/summary.md': () => parametersTable(summaryParameters),
  'docs/changes.md': () => parametersTable(changeParameters(defaultPageLimits)),
  'docs/command-line.md': commandLine,
  'docs/client-reference.md': clientReference,
  'docs/licenses.md': () => licenseTable(),
};

/** The generated files of the documentation. */
export const generatedFiles: Readonly<Record<string, () => string>> = {
  'docs/subreport.1': () => manPage(program),
};

const settingNames = Object.keys(settings) as (keyof typeof settings)[];

function settingsTable(): string {
  const rows = settingNames.map((name) => {
    const { fallback, rule } = settings[name];
    const shown = fallback === undefined ? '' : `\`${fallback}\``;
    return `| \`${name}\` | ${shown} | ${rule} | ${describeSetting(name)} |`;
  });
  return ['| setting | default | rule | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function parametersTable(parameters: Readonly<Record<string, TSchema>>): string {
  const rows = Object.entries(parameters).map(
    ([name, schema]) => `| \`${name}\` | ${descriptionOf(schema)} | ${ruleOf(schema)} |`,
  );
  return ['| parameter | meaning | rule |', '|---|---|---|', ...rows].join('\n');
}

const silent = { write: () => undefined };
const program = await buildProgram({ stdout: silent, stderr: silent });

function commandLine(): string {
  return leavesOf(program)
    .map(
      ({ path, command }) =>
        `## ${path}\n\n\`\`\`text\n${command.configureHelp({ helpWidth: 110 }).helpInformation().trim()}\n${examplesOf(command)}\`\`\``,
    )
    .join('\n\n');
}

interface Leaf {
  readonly path: string;
  readonly command: Command;
}

function leavesOf(command: Command, path = command.name()): Leaf[] {
  const leaves = command.commands.flatMap((child) => leavesOf(child, `${path} ${child.name()}`));
  return leaves.length > 0 ? leaves : [{ path, command }];
}

/** The examples after the help of a command. */
function examplesOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (more) => (text += more) });
  command.outputHelp();
  return text.slice(command.helpInformation().length);
}

if (import.meta.main) {
  for (const [file, write] of Object.entries(generatedFiles)) {
    writeFileSync(new URL(`../${file}`, import.meta.url), write());
  }
  for (const [file, write] of Object.entries(generatedParts)) {
    const url = new URL(`../${file}`, import.meta.url);
    writeFileSync(url, withGeneratedPart(readFileSync(url, 'utf8'), write()));
  }
}
