import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { TSchema } from 'typebox';
import { destinations, optionsOf } from '../packages/cli/sync/destinations.ts';
import { changeParameters } from '../packages/contract/change.ts';
import { changesSummaryParameters } from '../packages/contract/changes-summary.ts';
import { reportParameters } from '../packages/contract/query.ts';
import { recordFields } from '../packages/contract/record-fields.ts';
import { defaultPageLimits } from '../packages/contract/report.ts';
import { descriptionOf, ruleOf } from '../packages/contract/schema.ts';
import { summaryParameters } from '../packages/contract/summary.ts';
import { buildProgram } from '../packages/service/cli/command-line.ts';
import { settings } from '../packages/service/cli/config.ts';
import { csvColumns } from '../packages/service/import/csv-layout.ts';
import { chooseIndex, covers, type IndexEntries, indexOfOrder } from '../packages/service/storage/read/choose-index.ts';
import {
  countedFilter,
  type DateColumn,
  type SubscriptionFilter,
} from '../packages/service/storage/subscription-filter.ts';
import { connectionsTable } from './connections-table.ts';
import { withGeneratedPart } from './generated-part.ts';
import { arrowPictureAndFolders } from './write-arrows.ts';

/** The generated parts of the documentation, by file: each is between two markers. */
export const generatedParts: Readonly<Record<string, () => string | readonly string[]>> = {
  'ARCHITECTURE.md': arrowPictureAndFolders,
  'docs/operators/settings.md': settingsTable,
  'docs/readers/report.md': () => [parametersTable(reportParameters(defaultPageLimits)), costTable()],
  'docs/readers/summary.md': () => parametersTable(ownSummaryParameters()),
  'docs/readers/changes.md': () => [
    parametersTable(changeParameters(defaultPageLimits)),
    parametersTable(changesSummaryParameters),
  ],
  'docs/readers/command-line.md': commandTables,
  'docs/operators/import.md': importTable,
  'docs/readers/sync.md': destinationTable,
  'docs/security/data.md': connectionsTable,
};

const settingNames = Object.keys(settings) as (keyof typeof settings)[];

function settingsTable(): string {
  const rows = settingNames.map((name) => {
    const { fallback, rule, description } = settings[name];
    const shown = `${fallback ?? ''}` === '' ? '' : `\`${fallback}\``;
    const example = `, such as ${fallback}`;
    const ownRule = shown !== '' && rule.endsWith(example) ? rule.slice(0, -example.length) : rule;
    return `| \`${name}\` | ${shown} | ${ownRule.replace(/^an integer from /, '')} | ${description} |`;
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
  const nameOf = new Map<string, string>();
  const rows = Object.entries(parameters).map(([name, schema]) => {
    const rule = ruleOf(schema);
    const same = nameOf.get(rule);
    nameOf.set(rule, same ?? name);
    return `| \`${name}\` | ${descriptionOf(schema)} | ${same === undefined ? rule : `as \`${same}\``} |`;
  });
  return ['| parameter | meaning | rule |', '|---|---|---|', ...rows].join('\n');
}

/** What an import does with a column, besides the rules of its field. */
const importNotes: Readonly<Record<string, string>> = {
  status:
    '1 to 64 printable characters without a comma, kept as they are; an empty cell means no status. The text `none` is a status like any other ([how to filter by it](../readers/report.md#parameters))',
  activationDate: 'dates in any format that the report accepts; offsets are converted to UTC, fractions truncated',
  'product.name': 'an empty cell means that the product has no name, here and below',
  'product.period_unit': 'as `status`',
  iccid: 'as text: spreadsheets lose digits if they treat it as a number',
  device_id: 'may be empty',
  auto_renew:
    '`true` or `false`, `t`, `f`, `1`, `0`, `y`, `n`, `yes` or `no`, in any case; the result notes the others',
  email:
    'only used by the `email` filter and never returned. Importing a record from a file without this column removes its address',
};

function importTable(): string {
  const rows = csvColumns.map((name) => {
    const isRequired = recordFields.some((field) => field.name === name && !field.isOptional);
    return `| \`${name}\` | ${isRequired ? 'yes ' : ''}| ${importNotes[name] ?? ''} |`.replaceAll('  ', ' ');
  });
  return ['| column | required | notes |', '|---|---|---|', ...rows].join('\n');
}

function destinationTable(): string {
  const rows = destinations.map((kind) => {
    const options = optionsOf(kind).map(({ flags }) => `\`${flags.split(' ')[0]}\``);
    return `| \`${kind.form}\` | ${kind.keeps} | ${options.join(', ')} |`;
  });
  return ['| `--to` | keeps | options |', '|---|---|---|', ...rows].join('\n');
}

const all = 5_000_000;
const week = { afterSeconds: 1, beforeSeconds: 2 };
const created = { dateColumn: 'created_date' } as const;
const expiration = { dateColumn: 'expiration_date', ...week } as const;

interface AskedPath {
  readonly name: string;
  readonly filter: SubscriptionFilter;
  /** The entries that it leaves in the indexes. */
  readonly left: Omit<IndexEntries, 'all'>;
  readonly products?: readonly string[];
}

/** Filters of which the counts know the total and any page of some order. */
const countedFilters: readonly AskedPath[] = [
  { name: 'none', filter: created, left: {} },
  {
    name: '`status`, `auto-renew`',
    filter: { ...created, statuses: ['ACTIVE'], autoRenew: 'true' },
    left: { status: 2_000_000 },
  },
  {
    name: 'bounds of `createdDate`, `status`',
    filter: { ...created, ...week, statuses: ['ACTIVE'] },
    left: { created_date: 50_000, status: 20_000 },
  },
  {
    name: 'bounds of `expirationDate`, `status`',
    filter: { ...expiration, statuses: ['ACTIVE'] },
    left: { expiration_date: 50_000, status: 2_000_000 },
  },
];

/** Filters that the counts do not know whole. */
const filtersOfPaths: readonly AskedPath[] = [
  { name: '`expirationDate` within a week', filter: expiration, left: { expiration_date: 50_000 } },
  { name: '`expirationDate` within a year', filter: expiration, left: { expiration_date: 1_700_000 } },
  {
    name: '`expirationDate` within a week, created within a month',
    filter: { ...expiration, furtherBounds: [{ ...created, ...week }] },
    left: { expiration_date: 50_000, created_date: 200_000 },
  },
  {
    name: '`status=PENDING`, `expirationDate` within a month',
    filter: { ...expiration, statuses: ['PENDING'] },
    left: { status: 30_000, expiration_date: 200_000 },
  },
  { name: 'a product', filter: { ...created, productId: 'a' }, left: { product_id: 125_000 } },
  {
    name: 'a product, `expirationDate` within a day',
    filter: { ...expiration, productId: 'a' },
    left: { product_id: 125_000, expiration_date: 6_000 },
  },
  {
    name: 'a plan of five products',
    filter: { ...created, planId: 'a' },
    left: { product_id: 625_000 },
    products: ['a'],
  },
];

const orders = ['created_date', 'expiration_date'] as const;

/** The index that a page or a total reads, and how many entries of it at most. */
function pathOf({ filter, left, products }: AskedPath, order?: DateColumn) {
  const entries = { all, ...left };
  const readsProduct = filter.productId !== undefined;
  const ordered = order && indexOfOrder(filter, order, { entries, ...(products && { products }) });
  const path = chooseIndex(entries, readsProduct, ordered);
  return {
    entries: entries[path] ?? all,
    isSorted: order !== undefined && path !== ordered,
    covers: covers(path, readsProduct),
  };
}

/** Microseconds of CPU for an entry: counted or passed, sorted, or read with its record. */
const entryMicros = { passed: 0.2, sorted: 0.6, read: 2 };

/** What a filter costs in each order: a page, and the total. */
function costTable(): string {
  const rows = [...countedFilters, ...filtersOfPaths].map((asked) => {
    const { filter, products } = asked;
    const isCounted =
      countedFilter(filter) !== undefined || (products !== undefined && filter.dateColumn === 'created_date');
    const total = isCounted ? 'counts, 1 ms' : costOf(pathOf(asked));
    const pages = orders.map((order) =>
      countedFilter(filter, order) === undefined ? costOf(pathOf(asked, order)) : 'counts, 5 ms',
    );
    return `| ${asked.name} | ${total} | ${pages.join(' | ')} |`;
  });
  return [
    '| filter | total | any page by `createdDate` | by `expirationDate` |',
    '|---|---|---|---|',
    ...rows,
    '| `id`, `iccid`, `device-id` or `email`, and any other | its records, 2 µs each; of a list, 5 µs each and 10 µs for each value | sorted | sorted |',
  ].join('\n');
}

function costOf({ entries, isSorted, covers: isCovered }: ReturnType<typeof pathOf>): string {
  const micros = isCovered ? (isSorted ? entryMicros.sorted : entryMicros.passed) : entryMicros.read;
  const ms = Math.max(1, Number(((entries * micros) / 1_000).toPrecision(2)));
  return `${count(entries)}${isSorted ? ' sorted' : ''}, ${count(ms)} ms`;
}

const count = (entries = all): string => entries.toLocaleString('en');

const silent = { write: () => undefined };
const program = await buildProgram({ stdout: silent, stderr: silent });

/** The commands that read reports, and the others; `--help` has their options and examples. */
function commandTables(): readonly string[] {
  const isReader = ({ path }: Leaf): boolean =>
    program.commands.find((command) => command.name() === path.split(' ')[1])?.helpGroup() === 'Read reports:';
  const leaves = leavesOf(program);
  return [leaves.filter(isReader), leaves.filter((leaf) => !isReader(leaf))].map((part) =>
    ['| command | does |', '|---|---|', ...part.map(commandRow)].join('\n'),
  );
}

function commandRow({ path, command }: Leaf): string {
  const terms = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return `| \`${[path.replace(/^subreport /, ''), ...terms].join(' ')}\` | ${command.description()} |`;
}

interface Leaf {
  readonly path: string;
  readonly command: Command;
}

function leavesOf(command: Command, path = command.name()): Leaf[] {
  const leaves = command.commands.flatMap((child) => leavesOf(child, `${path} ${child.name()}`));
  return leaves.length > 0 ? leaves : [{ path, command }];
}

if (import.meta.main) {
  for (const [file, write] of Object.entries(generatedParts)) {
    const url = new URL(`../${file}`, import.meta.url);
    writeFileSync(url, withGeneratedPart(readFileSync(url, 'utf8'), ...[write()].flat()));
  }
}
