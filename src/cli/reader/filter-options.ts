import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TSchema } from 'typebox';
import { descriptionOf } from '../../contract/schema.ts';
import { didYouMean } from '../../contract/suggest.ts';
import { UsageError } from '../error.ts';
import { dateRule, readDate } from './relative-date.ts';

/** Parameters of an operation, by name (`src/contract/`). */
type Parameters = Readonly<Record<string, TSchema>>;

/** Parameters that are lists: their options may be repeated. */
const lists = ['status', 'by'];

/** Adds an option for each parameter, with its name and description. */
export function addParameterOptions(command: Command, parameters: Parameters): Command {
  for (const [name, schema] of Object.entries(parameters)) command.addOption(parameterOption(name, schema));
  return command;
}

function parameterOption(name: string, schema: TSchema): Option {
  const { enum: choices, type } = schema as { enum?: readonly string[]; type?: string };
  const value = isDate(schema) ? 'date' : type === 'integer' ? 'n' : 'value';
  const description = descriptionOf(schema);
  const option = new Option(`--${name} <${value}>`, description.charAt(0).toLowerCase() + description.slice(1));
  if (choices !== undefined) option.choices(choices);
  return option.argParser((given: string, before: string | undefined) => {
    const text = choices?.includes('true') === true ? (truths[given.toLowerCase()] ?? given) : given;
    if (choices !== undefined && !choices.includes(text)) {
      throw new InvalidArgumentError(`it must be one of ${choices.join(', ')}${didYouMean(text, choices)}`);
    }
    if (before !== undefined && !lists.includes(name)) throw new InvalidArgumentError('it must be given only once');
    return before === undefined ? text : `${before},${text}`;
  });
}

/** How people write a boolean. */
const truths: Readonly<Record<string, string>> = { yes: 'true', no: 'false', true: 'true', false: 'false' };

const isDate = (schema: TSchema): boolean => (schema as { format?: string }).format === 'date-time';

/** A query of the command line: parameters as strings, dates as ISO 8601 date-times. */
export interface GivenQuery {
  readonly values: Readonly<Record<string, string>>;
  /** The dates that were not given as an instant. */
  readonly dates: readonly { readonly name: string; readonly instant: string }[];
}

/** Collects the parameters that were given. Throws `UsageError` with all invalid dates. */
export function readParameters(
  options: Readonly<Record<string, unknown>>,
  parameters: Parameters,
  nowSeconds = Math.floor(Date.now() / 1000),
): GivenQuery {
  const values: Record<string, string> = {};
  const dates: { name: string; instant: string }[] = [];
  const faults: string[] = [];
  for (const [name, schema] of Object.entries(parameters)) {
    const given = options[new Option(`--${name}`).attributeName()];
    if (typeof given !== 'string') continue;
    const value = isDate(schema) ? readDate(given, nowSeconds) : given;
    if (value === undefined) faults.push(`Cannot use --${name}: it must be ${dateRule}: current value is '${given}'`);
    else values[name] = value;
    if (value !== undefined && value !== given) dates.push({ name, instant: value });
  }
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return { values, dates };
}
