import { parseForm } from '../contract/form.ts';
import { malformedFault, nameFaults } from '../contract/parameter-faults.ts';
import { reportParameters } from '../contract/query.ts';
import type { ReportFormat } from '../contract/report-format.ts';
import { shorten } from '../contract/shorten.ts';
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
