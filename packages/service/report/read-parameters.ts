import { type FormPair, parseForm } from '../../contract/form.ts';
import type { ListParameter } from '../../contract/listed-values.ts';
import { malformedFault, nameFaults } from '../../contract/parameter-faults.ts';
import { type Fault, shorten } from '../../contract/problem.ts';
import { instantParameters } from '../../contract/query.ts';
import { fitsText, ruleOf } from '../../contract/schema.ts';
import { takeZone, type Zone } from '../../contract/zone.ts';

/** The parameters of a request as strings, from a URL or a body, and the faults found so far. */
export interface QueryParts {
  readonly pairs: readonly FormPair[];
  /** The parameters that are lists, only from a body; their values fit the schema. */
  readonly lists?: ReadonlyMap<ListParameter, readonly string[]>;
  readonly faults: readonly Fault[];
  /** Whether a part could not be decoded. */
  readonly unreadable: boolean;
  /** Whether the parameters came in a URL, which is the default, and may appear in a link. */
  readonly linkable?: boolean;
}

/** The parts of a query string, without its `?`; `leftOut` is the rule of unknown names. */
export function partsOf(queryString: string, known: readonly string[], leftOut?: string): QueryParts {
  const { pairs, malformed } = parseForm(queryString);
  const faults = [...malformed.map(malformedFault), ...nameFaults(pairs, known, leftOut)];
  return { pairs, faults, unreadable: malformed.length > 0 };
}

type Schema = Parameters<typeof ruleOf>[0];

/** Reads the parameters of a request one by one, and collects their faults. */
export interface RequestReader<Name extends string> {
  /** Returns the value of a parameter; `undefined` if it is absent or invalid. */
  read<T>(name: Name, parse: (text: string) => T | undefined): T | undefined;
  /** As `read`, for a string that must match the parameter's schema. */
  readText(name: Name, normalise?: (text: string) => string): string | undefined;
  /** Returns the values of a list; `undefined` if the parameter is no list. */
  readList(name: ListParameter): readonly string[] | undefined;
  /** The zone of dates without an offset. */
  readonly zone: Zone | undefined;
  /** The faults found so far. */
  readonly faults: Fault[];
  /** Whether a part, or a date, could not be decoded. */
  isUnreadable(): boolean;
}

/** Creates a reader that adds to the faults found so far. */
export function createParameterReader<Schemas extends Readonly<Record<string, Schema>>>(
  parts: QueryParts,
  schemas: Schemas,
): RequestReader<keyof Schemas & string> {
  type Name = keyof Schemas & string;
  const faults = [...parts.faults];
  const zone = takeZone(parts.pairs, faults);
  let { unreadable } = parts;
  const read = <T>(name: Name, parse: (text: string) => T | undefined): T | undefined => {
    const text = parts.pairs.find((pair) => pair.name === name)?.value;
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value !== undefined) return value;
    if (instantParameters.has(name)) unreadable = true;
    // a plus of a URL arrives as a space
    const hint = name === 'email' && parts.linkable !== false && text.includes(' ') ? '; in a URL, write + as %2B' : '';
    faults.push({ parameter: name, value: shownValue(name, text), rule: ruleOf(schemas[name] as Schema) + hint });
    return undefined;
  };
  return {
    read,
    readList: (name) => parts.lists?.get(name),
    readText: (name, normalise = (text) => text) =>
      read(name, (text) => (fitsText(schemas[name] as Schema, normalise(text)) ? normalise(text) : undefined)),
    zone,
    faults,
    isUnreadable: () => unreadable,
  };
}

/** A value as an error may show it: shortened, and never an email address. */
const shownValue = (name: string, text: string): string | null => (name === 'email' ? null : shorten(text));
