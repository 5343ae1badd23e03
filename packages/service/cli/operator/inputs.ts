import { text as readAll } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TSchema } from 'typebox';
import { valueFault } from '../../../contract/json-value.ts';
import type { OperatorOperation } from '../../../contract/operator/operation.ts';
import {
  type OperatorApiId,
  type OperatorBody,
  type OperatorInput,
  operatorApi,
} from '../../../contract/operator/operations.ts';
import { pathParameters } from '../../../contract/operator/path-parameters.ts';
import { descriptionOf, ruleOf } from '../../../contract/schema.ts';
import { didYouMean } from '../../../contract/suggest.ts';

/** How an input of an operation is given, where its schema does not say it. */
interface InputChange {
  /** The option, such as `--rate-limit <n>`; made from the name of the input if absent. */
  readonly flags?: string;
  /** The argument that it is instead of an option, such as `<tenant>`. */
  readonly argument?: string;
  /** Its help; the description of the schema if absent. */
  readonly hint?: string;
  readonly default?: readonly string[];
  /** Attributes of the options that contradict it. */
  readonly conflicts?: readonly string[];
  /** Reads it; by its schema if absent. */
  readonly parse?: (text: string) => unknown;
}

/** Changes by the name of an input; `null` for an input that the command lacks. */
export type InputChanges = Readonly<Record<string, InputChange | null>>;

/** What a command was given, by the names of the operation: `client_id`, `overlap_hours`. */
export type Given<Id extends OperatorApiId> = Readonly<Record<string, unknown>> & Members<OperatorBody<Id>>;

type Members<Body> = Body extends object ? { readonly [Name in keyof Body]?: Body[Name] | undefined } : unknown;

/**
 * Adds an option or an argument for each input of an operation: its path parameters, its query and
 * the members of its body. Returns the function that reads them.
 */
export function addInputs<Id extends OperatorApiId>(
  command: Command,
  id: Id,
  changes: InputChanges = {},
): () => Promise<Given<Id>> {
  const readers: (() => readonly [name: string, value: unknown])[] = [];
  for (const [name, schema, isRequired] of inputsOf(operatorApi[id])) {
    const change = changes[name];
    if (change === null) continue;
    const parse = change?.parse ?? ((text: string) => parseInput(schema, text));
    if (change?.argument === undefined) {
      const isMandatory = isRequired && change?.default === undefined;
      const option = optionOf(name, schema, change).argParser(parse).makeOptionMandatory(isMandatory);
      command.addOption(option);
      readers.push(() => [name, withNull(schema, command.opts()[option.attributeName()])]);
    } else {
      command.argument(change.argument, change.hint ?? hintOf(schema), parse);
      const at = command.registeredArguments.length - 1;
      readers.push(() => [name, command.processedArgs[at]]);
    }
  }
  return async () => {
    const given: Record<string, unknown> = Object.fromEntries(readers.map((read) => read()));
    if (given.client_secret === true) given.client_secret = await readSecret();
    return given as Given<Id>;
  };
}

/** What an operation is called with. */
export function inputOf<Id extends OperatorApiId>(id: Id, given: Given<Id>): OperatorInput<Id> {
  const { path, body, query = {} }: OperatorOperation = operatorApi[id];
  const part = (isIncluded: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => isIncluded(name)));
  return {
    params: part((name) => path.includes(`{${name}}`)),
    query: part((name) => name in query),
    body: body && part((name) => name in body.properties),
  } as OperatorInput<Id>;
}

/** The inputs of an operation: name, schema, and whether it must be given. */
function inputsOf({ path, query = {}, body }: OperatorOperation): readonly (readonly [string, TSchema, boolean])[] {
  const params = Object.entries(pathParameters).filter(([name]) => path.includes(`{${name}}`));
  const members = Object.entries(body?.properties ?? {});
  return [
    ...params.map(([name, schema]) => [name, schema, true] as const),
    ...Object.entries(query).map(([name, schema]) => [name, schema, false] as const),
    ...members.map(([name, schema]) => [name, schema, body?.required?.includes(name) === true] as const),
  ];
}

interface Keywords {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Keywords;
  readonly anyOf?: readonly Keywords[];
  readonly default?: unknown;
  readonly 'x-secret'?: true;
}

/** The keywords of a schema, without its null. */
function keywordsOf(schema: TSchema): Keywords & { readonly isNullable: boolean } {
  const { anyOf } = schema as Keywords;
  return { ...(anyOf?.[0] ?? (schema as Keywords)), isNullable: anyOf !== undefined };
}

/** The description of a schema as the help has it. */
function hintOf(schema: TSchema): string {
  const text = descriptionOf(schema);
  return `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\bnull\b/, 'default')}`;
}

function optionOf(name: string, schema: TSchema, change: InputChange = {}): Option {
  const { type, items, enum: words, default: usual, 'x-secret': isSecret, isNullable } = keywordsOf(schema);
  if (isSecret === true)
    return new Option('--secret-stdin', 'read the secret from standard input instead of generating one');
  const value = type === 'integer' ? 'n' : items === undefined ? name.slice(name.lastIndexOf('_') + 1) : 'list';
  const flags = change.flags ?? `--${name.replaceAll('_', '-')}${type === 'boolean' ? '' : ` <${value}>`}`;
  const listed = items?.enum === undefined ? '' : `, separated by commas: ${items.enum.join(',')}`;
  const option = new Option(flags, `${change.hint ?? hintOf(schema)}${listed}`);
  if (words !== undefined) option.choices(isNullable ? [...words, 'default'] : words);
  if (change.default !== undefined) option.default(change.default, change.default.join(','));
  else if (usual !== undefined) option.default(usual);
  return option.conflicts([...(change.conflicts ?? [])]);
}

/** What is given for null: nothing for a string, a word for others. */
function nullWordOf(schema: TSchema): string | undefined {
  const { type, enum: words, isNullable } = keywordsOf(schema);
  if (!isNullable) return undefined;
  return type === 'string' && words === undefined ? '' : 'default';
}

/** Commander takes null for an option without a value, so no parser may return it. */
const withNull = (schema: TSchema, parsed: unknown): unknown =>
  parsed !== undefined && parsed === nullWordOf(schema) ? null : parsed;

/** Parses the value of an option. Strings are checked when the operation is called. */
function parseInput(schema: TSchema, text: string): unknown {
  if (text === nullWordOf(schema)) return text;
  const { type, items, enum: words } = keywordsOf(schema);
  if (items?.enum !== undefined) return parseList(text, items.enum);
  const isNumber = type === 'integer' || type === 'number';
  const value = isNumber && /^\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : text;
  return isNumber || words !== undefined ? checked(schema, value) : text;
}

/** Returns a value that follows the rule of its schema; throws for any other. */
function checked<T>(schema: TSchema, value: T): T {
  if (valueFault('', schema, value) === undefined) return value;
  const meant = didYouMean(String(value), keywordsOf(schema).enum ?? []);
  throw new InvalidArgumentError(`It must be ${ruleOf(schema).replace(', or null', ', or default')}${meant}`);
}

/** Parses a comma-separated list of known names; returns them in the order of `known`. */
function parseList(list: string, known: readonly string[]): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  if (names.some((name) => !known.includes(name)))
    throw new InvalidArgumentError(`It must be a list of ${known.join(',')}`);
  return known.filter((each) => names.includes(each));
}

/** Reads standard input to its end, but for the line break that a shell adds. */
const readSecret = async (): Promise<string> => (await readAll(process.stdin)).replace(/\r?\n$/, '');
