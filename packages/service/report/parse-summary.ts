import { type FormPair, parseForm } from '../../contract/form.ts';
import { malformedFault, nameFaults } from '../../contract/parameter-faults.ts';
import { type Fault, shorten } from '../../contract/problem.ts';
import { type ReportParameter, reportParameters } from '../../contract/query.ts';
import { fitsText, ruleOf } from '../../contract/schema.ts';
import { didYouMean } from '../../contract/suggest.ts';
import {
  defaultSummaryGroups,
  type SummaryGroup,
  summaryDaysMax,
  summaryGroups,
  summaryParameters,
} from '../../contract/summary.ts';
import type { Zone } from '../../contract/zone.ts';
import { daySeconds } from './calendar.ts';
import { findFilterContradictions, findUnreadablePast } from './contradictions.ts';
import { refuse } from './error.ts';
import { readFilters } from './filters.ts';
import { dateBoundsOf, type SummaryQuery } from './get-subscription-summary.ts';
import { parseMoment } from './moment.ts';
import { createParameterReader } from './read-parameters.ts';
import type { QueryContext } from './report-query.ts';

/**
 * Parses the query string of a summary, without its `?`: the filters of the report, and `by`.
 * Throws `ReportError` with every fault at once; parameters of the report that do not select
 * records are faults too.
 */
export function parseSummary(queryString: string, context: QueryContext): SummaryQuery {
  const { pairs, malformed } = parseForm(queryString);
  const schemas = reportParameters(context.limits);
  const known = Object.keys(summaryParameters);
  const strangers = new Set(Object.keys(schemas).filter((name) => !known.includes(name)));
  const faults: Fault[] = [
    ...malformed.map(malformedFault),
    ...[...new Set(pairs.map(({ name }) => name))].filter((name) => strangers.has(name)).map(strangerFault),
    ...nameFaults(
      pairs.filter(({ name }) => !strangers.has(name)),
      known,
    ),
  ];
  const written = pairs.find(({ name }) => name === 'by')?.value;
  const by = written === undefined ? defaultSummaryGroups : readGroups(written);
  if (by === undefined)
    faults.push({ parameter: 'by', value: shorten(written ?? ''), rule: groupsRule(written ?? '') });
  const filters = pairs.filter((pair): pair is FormPair & { name: ReportParameter } => known.includes(pair.name));
  const reader = createParameterReader({ pairs: filters, faults, unreadable: malformed.length > 0 }, schemas);
  const asked = readFilters(reader);
  const asOf = reader.read('as-of', (text) => parseMoment(text, context.now(), reader.zone));
  if (reader.faults.length === 0) reader.faults.push(...findFilterContradictions(asked));
  if (reader.faults.length === 0 && asOf !== undefined) reader.faults.push(...findUnreadablePast(pairs, true));
  refuse(reader.faults, reader.isUnreadable());
  const query = { ...asked, nowSeconds: context.now(), by: by ?? [], ...(asOf !== undefined && { asOf }) };
  refuse(tooManyDays(query, reader.zone), false);
  return query;
}

/** The groups that a list names, each once, in the order of the contract. */
function readGroups(text: string): SummaryGroup[] | undefined {
  const words = text.split(',');
  if (!fitsText(summaryParameters.by, text) || new Set(words).size < words.length) return undefined;
  return summaryGroups.filter((group) => words.includes(group));
}

function groupsRule(text: string): string {
  const stranger = text.split(',').find((word) => !summaryGroups.some((group) => group === word)) ?? '';
  return ruleOf(summaryParameters.by) + didYouMean(stranger, summaryGroups);
}

const strangerFault = (parameter: string): Fault => ({
  parameter,
  value: null,
  rule: 'absent: a summary is one JSON object about all records that match its filters, without pages, order or other formats',
});

/**
 * Rejects a `by=day` whose bounds allow too many days. The result depends on the query alone,
 * neither on the records nor on the current time: a valid request stays valid.
 */
function tooManyDays(query: SummaryQuery, zone: Zone | undefined): Fault[] {
  if (!query.by.includes('day')) return [];
  const { afterSeconds, beforeSeconds } = dateBoundsOf(query);
  if (afterSeconds !== undefined && beforeSeconds !== undefined) {
    const offsetAt = (seconds: number): number => zone?.offsetAt(seconds) ?? 0;
    const length = beforeSeconds - afterSeconds - 1;
    const localLength = length + offsetAt(beforeSeconds) - offsetAt(afterSeconds + 1);
    if (Math.min(length, localLength) <= summaryDaysMax * daySeconds) return [];
  }
  const names = boundNames[query.dateField];
  const rule = `combined with bounds of its date at most ${summaryDaysMax} days apart: ${names}; or count by month`;
  return [{ parameter: 'by', value: query.by.join(','), rule }];
}

const boundNames = {
  created: "'created-from' and 'created-to', or 'after' and 'before'",
  activation: "'after' and 'before'",
  expiration: "'after' and 'before', or 'expires-within'",
} as const;
