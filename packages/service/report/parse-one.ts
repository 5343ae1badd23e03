import { takeFields } from '../../contract/fields.ts';
import { parseForm } from '../../contract/form.ts';
import { subscriptionParameters } from '../../contract/history.ts';
import { malformedFault, nameFaults } from '../../contract/parameter-faults.ts';
import { shorten } from '../../contract/problem.ts';
import { ruleOf } from '../../contract/schema.ts';
import { takeZone } from '../../contract/zone.ts';
import type { Moment } from '../storage/read/past.ts';
import { refuse } from './error.ts';
import { parseMoment } from './moment.ts';
import type { QueryContext } from './report-query.ts';

interface RecordQuery {
  readonly asOf?: Moment;
  readonly fields?: readonly string[];
}

/**
 * Parses the query string of one record, without its `?`. Throws `ReportError` with every fault.
 */
export function parseOne(queryString: string, { now }: QueryContext): RecordQuery {
  const { pairs, malformed } = parseForm(queryString);
  const faults = [...malformed.map(malformedFault), ...nameFaults(pairs, Object.keys(subscriptionParameters))];
  const zone = takeZone(pairs, faults);
  const text = pairs.find(({ name }) => name === 'as-of')?.value;
  const asOf = text === undefined ? undefined : parseMoment(text, now(), zone);
  if (text !== undefined && asOf === undefined)
    faults.push({ parameter: 'as-of', value: shorten(text), rule: ruleOf(subscriptionParameters['as-of']) });
  const fields = takeFields(pairs, faults);
  refuse(faults, malformed.length > 0);
  return { ...(asOf && { asOf }), ...(fields && { fields }) };
}
