import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TSchema } from 'typebox';
import { parseDuration } from '../../contract/duration.ts';
import { formatExactInstant, formatInstant, parseInstant } from '../../contract/instant.ts';
import { parseInstantIn } from '../../contract/local-time.ts';
import { instantParameters, momentParameters, reportParameters } from '../../contract/query.ts';
import { readIccid } from '../../contract/read-iccid.ts';
import { dayOf, dayWords } from '../../contract/relative-day.ts';
import { defaultPageLimits } from '../../contract/report.ts';
import { descriptionOf, ruleOf } from '../../contract/schema.ts';
import { didYouMean } from '../../contract/suggest.ts';
import { findZone, type Zone } from '../../contract/zone.ts';
import { UsageError } from '../../terminal/error.ts';

/** Parameters of an operation, by name (`packages/contract/`). */
export type QueryParameters = Readonly<Record<string, TSchema>>;

/** Parameters that are lists: their options may be repeated. */
const lists = ['status', 'by', 'fields'];

const {
  format: _format,
  all: _all,
  size: _size,
  page: _page,
  cursor: _cursor,
  ...questionParameters
} = reportParameters(defaultPageLimits);

/** The parameters of a whole report: those of a page without its position and format. */
export const exportParameters = questionParameters;

export function addParameterOptions(command: Command, parameters: QueryParameters): Command {
  for (const [name, schema] of Object.entries(parameters)) command.addOption(parameterOption(name, schema));
  return command;
}

function parameterOption(name: string, schema: TSchema): Option {
  const { enum: choices, type } = schema as { enum?: readonly string[]; type?: string };
  const value = instantParameters.has(name) ? 'date' : type === 'integer' ? 'n' : 'value';
  const option = new Option(`--${name} <${value}>`, optionDescription(descriptionOf(schema)));
  if (choices !== undefined) option.choices(choices);
  return option.argParser((given: string, before: string | undefined) => {
    const plain = name === 'iccid' ? readIccid(given) : given;
    const text = choices?.includes('true') === true ? (truths.get(given.toLowerCase()) ?? given) : plain;
    if (choices !== undefined && !choices.includes(text))
      throw new InvalidArgumentError(`It must be one of ${choices.join(', ')}${didYouMean(text, choices)}`);
    if (text === '' || (type === 'integer' && !/^\d{1,15}$/.test(text)))
      throw new InvalidArgumentError(`It must be ${ruleOf(schema)}`);
    if (before !== undefined && !lists.includes(name)) throw new InvalidArgumentError('It must be given only once');
    return before === undefined ? text : `${before},${text}`;
  });
}

/** Phrases of the API's descriptions, and their replacements on the command line. */
const apiWords: readonly (readonly [words: RegExp, said: string])[] = [
  [/; \+ in a URL is %2B/, ''],
  [/only with all=true, and /, ''],
  [/from X-Next-Page or X-Previous-Page/, 'the cursor of a link of the API'],
  [/(?<![\w-])(?=(?:date-field|expires-within|as-of)\b)|(?<= in )(?=since\b)/g, '--'],
];

/** The description of a parameter as that of an option. */
function optionDescription(description: string): string {
  const said = apiWords.reduce((text, [words, other]) => text.replace(words, other), description);
  return said.charAt(0).toLowerCase() + said.slice(1);
}

/** How people write a boolean. */
const truths = new Map(Object.entries({ yes: 'true', no: 'false', true: 'true', false: 'false' }));

/** A query of the command line: parameters as strings, dates as ISO 8601 date-times. */
export interface GivenQuery {
  readonly values: Readonly<Record<string, string>>;
  /** The dates that were not given as an instant. */
  readonly dates: readonly { readonly name: string; readonly instant: string }[];
}

/** Collects the parameters that were given. Throws `UsageError` with all invalid dates. */
export function readParameters(
  options: Readonly<Record<string, unknown>>,
  parameters: QueryParameters,
  nowSeconds = Math.floor(Date.now() / 1000),
): GivenQuery {
  const values: Record<string, string> = {};
  const dates: { name: string; instant: string }[] = [];
  const faults: string[] = [];
  const clock = { nowSeconds, zone: findZone(String(options.zone)) };
  for (const name of Object.keys(parameters)) {
    const given = options[new Option(`--${name}`).attributeName()];
    if (typeof given !== 'string') continue;
    // the service decides what is now, because the clocks may differ
    if ((name === 'as-of' || name === 'until') && given === 'now') continue;
    const value = instantParameters.has(name) ? readDate(given, clock) : readMoment(name, given, clock);
    if (value === undefined)
      faults.push(
        `Cannot use --${name}: it must be ${dateRule}${didYouMean(given, dateWords)}: current value is '${given}'`,
      );
    else values[name] = value;
    if (value !== undefined && value !== given) dates.push({ name, instant: value });
  }
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return { values, dates };
}

/** Turns a date into an instant; leaves a revision, a token and `now` as given. */
const readMoment = (name: string, given: string, clock: ZonedClock): string =>
  given !== 'now' && momentParameters.has(name) ? (readDate(given, clock) ?? given) : given;

/** The current time, and the time zone of days; UTC if absent. */
interface ZonedClock {
  readonly nowSeconds: number;
  readonly zone?: Zone | undefined;
}

const dateWords = [...dayWords, 'now'];

/** The rule for dates on the command line. */
export const dateRule =
  'a date such as 2024-05-01 or 2024-05-01T08:00:00Z, yesterday, last-month, now, 7d (before now) or +7d (after now)';

/**
 * Converts a date of the command line to an ISO 8601 date-time; `undefined` if it is not a date. A
 * date-time with an offset is returned unchanged. Days are those of the zone, or of UTC.
 *
 * @example
 * // at 2026-05-10T12:30:00Z
 * readDate('7d', { nowSeconds })          // '2026-05-03T12:30:00Z', as '-7d'
 * readDate('+12h', { nowSeconds })        // '2026-05-11T00:30:00Z'
 * readDate('today', { nowSeconds })       // '2026-05-10T00:00:00Z'
 * readDate('today', { nowSeconds, zone }) // '2026-05-09T22:00:00Z' in Europe/Berlin
 * readDate('last-month', { nowSeconds })  // '2026-04-01T00:00:00Z'
 * readDate('2024-05-01', { nowSeconds })  // '2024-05-01T00:00:00Z'
 */
export function readDate(text: string, { nowSeconds, zone }: ZonedClock): string | undefined {
  const seconds = secondsOf(text, nowSeconds);
  if (seconds !== undefined) return formatInstant(seconds);
  if (parseInstant(text) !== undefined) return text;
  const today = formatInstant(nowSeconds + (zone?.offsetAt(nowSeconds) ?? 0)).slice(0, 10);
  const date = dayOf(text, today) ?? text;
  if (zone === undefined) return parseInstant(`${date}T00:00:00Z`) && `${date}T00:00:00Z`;
  const instant = parseInstantIn(date, zone);
  return instant && formatExactInstant(instant);
}

function secondsOf(text: string, nowSeconds: number): number | undefined {
  if (text === 'now') return nowSeconds;
  const duration = parseDuration(text.replace(/^[+-]/, ''));
  if (duration === undefined) return undefined;
  return nowSeconds + (text.startsWith('+') ? duration : -duration);
}

/** Parses an option of seconds. */
export function readSeconds(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds from 1 to 99999, such as 10');
}
