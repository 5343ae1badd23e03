import { parseForm } from '../contract/form.ts';
import { malformedFault, nameFaults } from '../contract/parameter-faults.ts';
import { reportParameters } from '../contract/query.ts';
import type { ReportFormat } from '../contract/report-format.ts';
import { shorten } from '../contract/shorten.ts';
import { readQuery } from './read-query.ts';
import { refuse } from './refuse.ts';
import type { QueryContext, ReportQuery } from './report-query.ts';

/**
 * Parses the query string of a report (`spec.md` "Query parameters"), without its `?`. `accepted`
 * is the format that the `Accept` header allows, used unless the query names one. Throws
 * `ReportError` with every fault at once: malformed parts, unknown and repeated names, and invalid
 * values.
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

/** Rejects every query parameter, for operations without any; `why` is part of the message. */
export function parseNoParameters(queryString: string, why = 'this operation has no query parameters'): void {
  const { pairs, malformed } = parseForm(queryString);
  const faults = [
    ...malformed.map(malformedFault),
    ...pairs.map(({ name }) => ({ parameter: shorten(name), value: null, rule: `left out: ${why}` })),
  ];
  refuse(faults, malformed.length > 0);
}
