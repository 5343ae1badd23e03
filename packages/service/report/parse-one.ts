import { takeFields } from '../../contract/fields.ts';
import { subscriptionParameters } from '../../contract/history.ts';
import type { Moment } from '../storage/read/past.ts';
import { refuse } from './error.ts';
import { parseMoment } from './moment.ts';
import { createParameterReader, partsOf } from './read-parameters.ts';
import type { QueryContext } from './report-query.ts';

interface RecordQuery {
  readonly asOf?: Moment;
  readonly fields?: readonly string[];
}

/**
 * Parses the query string of one record, without its `?`. Throws `ReportError` with every fault.
 */
export function parseOne(queryString: string, { now }: QueryContext): RecordQuery {
  const parts = partsOf(queryString, Object.keys(subscriptionParameters));
  const { read, faults, zone, isUnreadable } = createParameterReader(parts, subscriptionParameters);
  const asOf = read('as-of', (text) => parseMoment(text, now(), zone));
  const fields = takeFields(parts.pairs, faults);
  refuse(faults, isUnreadable());
  return { ...(asOf && { asOf }), ...(fields && { fields }) };
}
