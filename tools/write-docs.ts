import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { TSchema } from 'typebox';
import { buildProgram } from '../src/cli/command-line.ts';
import { describeSetting, settings } from '../src/cli/config.ts';
import { changeParameters } from '../src/contract/change.ts';
import { reportParameters } from '../src/contract/query.ts';
import { defaultPageLimits } from '../src/contract/report.ts';
import { descriptionOf, ruleOf } from '../src/contract/schema.ts';
import { summaryParameters } from '../src/contract/summary.ts';
import { choosePath, type Widths } from '../src/storage/read/path.ts';
import { clientReference } from './client-reference.ts';
import { withGeneratedPart } from './generated-part.ts';
import { licenseTable } from './license-table.ts';
import { arrowPictureAndTable } from './write-arrows.ts';

/** The generated parts of the documentation, by file: each is between two markers. */
export const generatedParts: Readonly<Record<string, () => string>> = {
  'ARCHITECTURE.md': arrowPictureAndTable,
  'docs/settings.md': settingsTable,
  'docs/report.md': () => parametersTable(reportParameters(defaultPageLimits)),
  'docs/summary.md': () => parametersTable(ownSummaryParameters()),
  'docs/changes.md': () => parametersTable(changeParameters(defaultPageLimits)),
  'docs/decisions/counts.md': pathsTable,
  'docs/command-line.md': commandLine,
  'docs/client-reference.md': clientReference,
  'docs/licenses.md': () => licenseTable(),
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

/** The parameters of a summary that the table of the report does not already describe. */
function ownSummaryParameters(): Record<string, TSchema> {
  const ofReport: Readonly<Record<string, TSchema>> = reportParameters(defaultPageLimits);
  return Object.fromEntries(
    Object.entries<TSchema>(summaryParameters).filter(([name, schema]) => {
      const other = ofReport[name];
      return other === undefined || descriptionOf(other) !== descriptionOf(schema);
    }),
  );
}

function parametersTable(parameters: Readonly<Record<string, TSchema>>): string {
  const rows = Object.entries(parameters).map(
    ([name, schema]) => `| \`${name}\` | ${descriptionOf(schema)} | ${ruleOf(schema)} |`,
  );
  return ['| parameter | meaning | rule |', '|---|---|---|', ...rows].join('\n');
}

const all = 5_000_000;

/** Filters that the counts do not know whole, and the entries that each leaves in the indexes. */
const filtersOfPaths: readonly (readonly [filter: string, left: Omit<Widths, 'all'>])[] = [
  ['`auto-renew` or a rare `plan-id`, in the order of a date', {}],
  ['`createdDate` within a week', { created_date: 50_000 }],
  ['`expirationDate` within a week', { expiration_date: 50_000 }],
  ['`expirationDate` within a year', { expiration_date: 1_700_000 }],
  ['`expirationDate` within a week, created within a month', { expiration_date: 50_000, created_date: 200_000 }],
  ['`status=PENDING`, `expirationDate` within a month', { status: 30_000, expiration_date: 200_000 }],
  ['`status=PENDING`, created within a day', { status: 300, created_date: 6_000 }],
  ['a product', { product_id: 125_000 }],
  ['a product, `expirationDate` within a day', { product_id: 125_000, expiration_date: 6_000 }],
  ['a product, `expirationDate` within a month', { product_id: 125_000, expiration_date: 200_000 }],
  ['a plan of five products, `activationDate` within a year', { product_id: 625_000, activation_date: 1_700_000 }],
];

/** The index that is read for some filters, as `choosePath` chooses it. */
function pathsTable(): string {
  const rows = filtersOfPaths.map(([filter, left]) => {
    const widths = { all, ...left };
    const readsProduct = filter.startsWith('a product');
    const chosen = (['created_date', 'expiration_date'] as const).map((order) => {
      const ordered = readsProduct && order === 'created_date' ? 'product_id' : order;
      const path = choosePath(widths, readsProduct, ordered);
      return path === ordered ? `\`${path}\`, in order` : `\`${path}\`, ${count(widths[path])} sorted`;
    });
    const counted = choosePath(widths, readsProduct);
    return `| ${filter} | \`${counted}\`, ${count(widths[counted])} | ${chosen.join(' | ')} |`;
  });
  return [
    '| filter | counted in the index of | a page by `createdDate` reads | by `expirationDate` |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const count = (entries = all): string => entries.toLocaleString('en');

const silent = { write: () => undefined };
const program = await buildProgram({ stdout: silent, stderr: silent });

/** The help of each command; options that several commands have are described once, at the top. */
function commandLine(): string {
  const leaves = leavesOf(program);
  const entries = leaves.flatMap(({ command }) => optionEntries(helpOf(command)).map(withoutLayout));
  const countOf = (entry: string): number => entries.filter((each) => each === entry).length;
  const several = [...new Set(entries)].filter((entry) => countOf(entry) >= 3).sort((x, y) => countOf(y) - countOf(x));
  const termOf = (entry: string): string => entry.split('  ')[0] ?? '';
  // `--json` has several meanings: the others stay with their commands
  const shared = several.filter((entry, at) => several.findIndex((other) => termOf(other) === termOf(entry)) === at);
  const common = shared
    .toSorted()
    .filter((entry) => !entry.startsWith('-h, --help'))
    .map((entry) => entry.replace(/^(.+?) {2}(.+)$/, '| `$1` | $2 |'));
  const sections = leaves.map(({ path, command }) => {
    const help = helpOf(command);
    const known = optionEntries(help).filter((entry) => shared.includes(withoutLayout(entry)));
    const own = known.reduce((text, entry) => text.replace(entry, ''), help).replace(/\nOptions:\n(?=\n|$)/, '');
    const names = known.map((entry) => /--[\w-]+/.exec(entry)?.[0]).filter((name) => name !== '--help');
    const also = names.length === 0 ? '' : `\nAlso ${names.map((name) => `\`${name}\``).join(', ')}.\n`;
    return `## ${path}\n\n\`\`\`text\n${`${own.trim()}\n${examplesOf(command)}`.trim()}\n\`\`\`\n${also}`.trim();
  });
  return ['| option of several commands | meaning |', '|---|---|', ...common, '', sections.join('\n\n')].join('\n');
}

const helpOf = (command: Command): string => command.configureHelp({ helpWidth: 110 }).helpInformation();

/** The entries of the options in a help text, each with its further lines. */
const optionEntries = (help: string): string[] => help.match(/^ {2}-.+\n(?: {10,}.+\n)*/gm) ?? [];

const withoutLayout = (entry: string): string => entry.trim().replaceAll(/\n\s+/g, ' ').replace(/ {2,}/, '  ');

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
  for (const [file, write] of Object.entries(generatedParts)) {
    const url = new URL(`../${file}`, import.meta.url);
    writeFileSync(url, withGeneratedPart(readFileSync(url, 'utf8'), write()));
  }
}
