import { type FormPair, parseForm, repeatedNames } from '../contract/form.ts';
import type { Fault } from '../contract/problem.ts';
import { reportParameters } from '../contract/query.ts';
import type { ReportFormat } from '../contract/report-format.ts';
import { shorten } from '../contract/shorten.ts';
import { didYouMean } from '../contract/suggest.ts';
import { readQuery } from './read-query.ts';
import { refuse } from './refuse.ts';
import type { QueryContext, ReportQuery } from './report-query.ts';

/**
 * Reads the query string of a report (`spec.md` "Query parameters"), without its `?`. Fails with
 * `ReportError` that names every fault at once: what cannot be decoded, unknown and repeated names,
 * and each value that breaks its rule. `accepted` is the form that the client takes, unless the
 * query names one.
 */
export function parseReport(
  queryString: string,
  context: QueryContext,
  accepted: ReportFormat | undefined,
): ReportQuery {
  const { pairs, malformed } = parseForm(queryString);
  const faults = [
    ...malformed.map(malformedFault),
    ...nameFaults(pairs, Object.keys(reportParameters(context.limits))),
  ];
  return readQuery({ pairs, faults, unreadable: malformed.length > 0, linkable: true }, context, accepted);
}

/** Refuses every query parameter, for operations that take none; `why` says what to do instead. */
export function parseNoParameters(queryString: string, why = 'this operation has no query parameters'): void {
  const { pairs, malformed } = parseForm(queryString);
  const faults = [
    ...malformed.map(malformedFault),
    ...pairs.map(({ name }) => ({ parameter: shorten(name), value: null, rule: `left out: ${why}` })),
  ];
  refuse(faults, malformed.length > 0);
}

/**
 * What is wrong with the names of parameters: unknown ones, with what was probably meant, and those
 * that stand twice.
 */
export function nameFaults(pairs: readonly Pick<FormPair, 'name'>[], known: readonly string[]): Fault[] {
  const names = new Set(pairs.map(({ name }) => name));
  const unknown = [...names].filter((name) => !known.includes(name));
  const repeated = [...repeatedNames(pairs)].filter((name) => known.includes(name));
  return [
    ...unknown.map((name) => ({
      parameter: shorten(name),
      value: null,
      rule: `one of ${known.join(', ')}${didYouMean(name, known)}`,
    })),
    ...repeated.map((name) => ({ parameter: name, value: null, rule: 'given only once' })),
  ];
}

/** What cannot be decoded is not shown: whether it is personal cannot be told. */
export const malformedFault = (part: string): Fault => ({
  parameter: shorten(part.split('=', 1)[0] ?? ''),
  value: null,
  rule: 'UTF-8 in percent-encoding, such as %2B for +',
});
