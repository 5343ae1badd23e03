import { type FormPair, repeatedNames } from './form.ts';
import { type Fault, faultSentence, type ProblemReport, shorten } from './problem.ts';
import { didYouMean, suggestionsMax } from './suggest.ts';

const listedBefore = 'one of the names that an earlier message lists';

/** The rule of a name with a suggestion, which needs no list. */
const knownName = 'a known name';

/** What a request has in a header, never in its URL. */
const headerOnly: ReadonlyMap<string, string> = new Map([
  ['access_token', "absent: send the header 'Authorization: Bearer <ACCESS_TOKEN>'"],
]);

/**
 * Returns a fault for each unknown name, with a suggestion, and for each repeated one. Where no
 * name is known, the rule of each is `leftOut`.
 */
export function nameFaults(
  pairs: readonly Pick<FormPair, 'name'>[],
  known: readonly string[],
  leftOut = 'left out: this operation has no query parameters',
): Fault[] {
  const isValid = pairs.every(
    ({ name }, index) => known.includes(name) && pairs.findIndex((pair) => pair.name === name) === index,
  );
  if (isValid) return [];
  const names = new Set(pairs.map(({ name }) => name));
  const faultOf = (name: string, rule: string): Fault => ({
    parameter: shorten(name),
    value: null,
    rule: headerOnly.get(name) ?? rule,
  });
  if (known.length === 0) return [...names].map((name) => faultOf(name, leftOut));
  const unknown = [...names].filter((name) => !known.includes(name));
  const repeated = [...repeatedNames(pairs)].filter((name) => known.includes(name));
  const suggestions = unknown.map((name, index) => (index < suggestionsMax ? didYouMean(name, known) : ''));
  const listed = suggestions.indexOf('');
  return [
    ...unknown.map((name, index) => {
      if (suggestions[index]) return faultOf(name, knownName + suggestions[index]);
      // the list once: it takes half a kilobyte
      return faultOf(name, index === listed ? `one of ${known.join(', ')}` : listedBefore);
    }),
    ...repeated.map((name) => ({ parameter: name, value: null, rule: 'given only once' })),
  ];
}

/**
 * Returns the fault of a part of a query string that cannot be decoded. It leaves the value out: it
 * may be personal data.
 */
export const malformedFault = (part: string): Fault => ({
  parameter: shorten(part.split('=', 1)[0] ?? ''),
  value: null,
  rule: 'UTF-8 in percent-encoding, such as %2B for +',
});

/**
 * The most faults that one response lists: each takes up to 1 KB, and 8 KB of query string can hold
 * 2,000.
 */
const faultsMax = 32;

/**
 * Describes the faults of a request, at least one; `unreadable` when a value cannot be read at all,
 * rather than breaking its rule.
 */
export function describeFaults(faults: readonly Fault[], unreadable: boolean) {
  const listed = faults.slice(0, faultsMax);
  return {
    code: unreadable ? 'INVALID_HTTP_MESSAGE' : 'INVALID_REQUEST_PARAMS',
    messages: [...listed.map(faultSentence), ...describeRest(faults.length)],
    faults: listed,
  } as const satisfies ProblemReport;
}

const describeRest = (count: number): string[] =>
  count > faultsMax ? [`Cannot list every fault: at most ${faultsMax} are listed: current value is ${count}`] : [];
