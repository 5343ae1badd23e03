import { parseForm } from '../../contract/form.ts';
import { subscriptionParameters } from '../../contract/history.ts';
import { malformedFault, nameFaults } from '../../contract/parameter-faults.ts';
import { shorten } from '../../contract/problem.ts';
import { ruleOf } from '../../contract/schema.ts';
import type { Moment } from '../storage/read/past.ts';
import { refuse } from './error.ts';
import { parseMoment } from './moment.ts';
import type { QueryContext } from './report-query.ts';

/**
 * Parses the query string of one record, without its `?`. Throws `ReportError` with every fault.
 */
export function parseOne(queryString: string, { now }: QueryContext): { readonly asOf?: Moment } {
  const { pairs, malformed } = parseForm(queryString);
  const faults = [...malformed.map(malformedFault), ...nameFaults(pairs, Object.keys(subscriptionParameters))];
  const text = pairs.find(({ name }) => name === 'as-of')?.value;
  const asOf = text === undefined ? undefined : parseMoment(text, now());
  if (text !== undefined && asOf === undefined)
    faults.push({ parameter: 'as-of', value: shorten(text), rule: ruleOf(subscriptionParameters['as-of']) });
  refuse(faults, malformed.length > 0);
  return asOf === undefined ? {} : { asOf };
}
