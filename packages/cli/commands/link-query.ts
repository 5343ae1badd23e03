import { type Command, Option } from 'commander';
import { type FormPair, parseForm } from '../../contract/form.ts';
import { listParameters } from '../../contract/listed-values.ts';
import { malformedFault, nameFaults } from '../../contract/parameter-faults.ts';
import { connect, type ProfileOption } from '../../terminal/connection.ts';
import { UsageError } from '../../terminal/error.ts';
import { printable } from '../../terminal/printable.ts';
import { type GivenQuery, type QueryParameters, readParameters } from './filter-options.ts';
import type { Screen } from './record-writer.ts';

/** How a command uses a link of the report's console. */
export interface LinkUse {
  /** The page of the console. */
  readonly page: 'subscriptions' | 'changes';
  /** The parameters of the command. */
  readonly parameters: QueryParameters;
  /** Parameters of a link that the command ignores. */
  readonly ignored: readonly string[];
  /** Values of parameters that the link does not have. */
  readonly defaults: Readonly<Record<string, string>>;
}

/** The order of the page without `sort`. */
export const newestFirst = { sort: '-createdDate' } as const;

export const addQueryOption = (command: Command): Command =>
  command.option(
    '--query <link>',
    "the question of a link of the report's console, or its query string; other options take precedence",
  );

interface LinkOptions extends ProfileOption {
  readonly query?: string;
}

/**
 * Returns the options of a command with those of its link. Throws `UsageError` with all faults of
 * the link, or if it is another service's, or lacks a value that only the command line can give.
 */
export function withLink<Options extends LinkOptions>(options: Options, use: LinkUse): Options {
  if (options.query === undefined) return options;
  const pairs = readLink(options.query, options, use);
  const linked = Object.fromEntries(
    [...Object.entries(use.defaults), ...pairs.map(({ name, value }) => [name, value])].map(([name = '', value]) => [
      attributeOf(name),
      value,
    ]),
  );
  return { ...linked, ...options };
}

function readLink(link: string, options: LinkOptions, use: LinkUse): readonly FormPair[] {
  const { pairs, malformed } = parseForm(queryStringOf(link, options, use));
  const names = [...Object.keys({ ...use.parameters, ...others }), ...use.ignored];
  const faults = [...malformed.map(malformedFault), ...nameFaults(pairs, names)];
  const missing = pairs.flatMap((pair) => unusableIn(pair, use) ?? missingOf(pair, options));
  const rules = [...faults.map(({ parameter, rule }) => `${parameter} must be ${rule}`), ...missing];
  if (rules.length > 0) throw new UsageError(rules.map((rule) => `Cannot use --query: ${printable(rule)}`).join('\n'));
  return pairs.filter(({ name }) => !['list', 'email', ...use.ignored].includes(name));
}

/**
 * Parameters that a command refuses, each with a message that names the commands that accept it.
 */
const others: Readonly<Record<string, string>> = {
  email: 'this command takes no email address: use subreport list or export',
  list: 'this command takes no list: use subreport list or export',
  'as-of': 'a report of the past has no pages: use subreport export or summary',
};

const unusableIn = ({ name }: FormPair, { parameters }: LinkUse): readonly string[] | undefined => {
  const rule = Object.hasOwn(others, name) ? others[name] : undefined;
  const isTaken = name in parameters || (name === 'list' && 'iccid' in parameters && 'email' in parameters);
  return rule === undefined || isTaken ? undefined : [rule];
};

/** Messages about an email address or a list that must be given on the command line. */
function missingOf({ name, value }: FormPair, options: LinkOptions): readonly string[] {
  const given = options as Readonly<Record<string, unknown>>;
  if (name === 'email' && given.email === undefined)
    return ['the link hides an email address: it must be given with --email'];
  const list = listParameters.find((parameter) => name === 'list' && parameter === value);
  if (list !== undefined && given[`${attributeOf(list)}File`] === undefined)
    return [`the link has no room for its list: it must be given with --${list}-file`];
  return name === 'list' && list === undefined ? [`list must be one of ${listParameters.join(', ')}`] : [];
}

/** Returns the query string of a link or of its path; a query string is returned as given. */
function queryStringOf(link: string, options: LinkOptions, { page }: LinkUse): string {
  const isPath = link.startsWith('/');
  if (!isPath && !/^https?:/i.test(link)) return link.replace(/^\?/, '');
  const service = new URL(connect(options).profile.base_url).origin;
  const url = URL.parse(link, service);
  const rule =
    url === null || !(url.pathname === `/console/${page}` || url.pathname.startsWith(`/console/${page}/`))
      ? `it must be a link of the page ${page === 'changes' ? 'Changes' : 'Subscriptions'}, such as ${service}/console/${page}?…`
      : url.origin !== service
        ? `it must be a link of the service of the profile, ${service}: use --profile, or only the query string`
        : undefined;
  if (url !== null && rule === undefined) return url.search.slice(1);
  throw new UsageError(`Cannot use --query: ${rule}: current value is '${printable(link)}'`);
}

const attributeOf = (name: string): string => new Option(`--${name}`).attributeName();

/**
 * Reads the parameters of a command and its link. Prints the link's question; without a link,
 * prints the instant that each date became. Throws `UsageError` with all faults.
 */
export function readAsked(options: LinkOptions, use: LinkUse, screen: Screen, parameters = use.parameters): GivenQuery {
  const asked = readParameters({ ...withLink(options, use) }, parameters);
  if (options.query === undefined) for (const { name, instant } of asked.dates) screen.remark(`--${name} ${instant}`);
  sayQuestion(screen, options, asked.values);
  return asked;
}

/** Prints a link's question, with its days as instants and without the email address. */
export function sayQuestion(screen: Screen, { query }: LinkOptions, values: GivenQuery['values']): void {
  if (query === undefined) return;
  const parts = Object.entries(values).map(([name, value]) => (name === 'email' ? name : `${name} ${value}`));
  screen.remark(`The question: ${parts.join('; ') || 'everything'}`);
}
