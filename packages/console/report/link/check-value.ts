import { parseDuration } from '../../../contract/duration.ts';
import { readFields } from '../../../contract/fields.ts';
import { parseInstant } from '../../../contract/instant.ts';
import { listParameters } from '../../../contract/listed-values.ts';
import { type Fault, shorten } from '../../../contract/problem.ts';
import { instantParameters, reportParameters } from '../../../contract/query.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { fitsText, readWholeNumber, ruleOf } from '../../../contract/schema.ts';
import { summaryGroups } from '../../../contract/summary.ts';
import { findZone } from '../../../contract/zone.ts';
import { instantOfDay, readAsOf } from '../past/read-as-of.ts';

const schemas = reportParameters(defaultPageLimits);

/** Parameters of the response itself. */
const ofResponse = ['cursor', 'format', 'all'] as const;

type ReportParameter = Exclude<keyof typeof schemas, (typeof ofResponse)[number]>;

/** Parameters of the page itself, with the words that each may be. */
const ofPage = { by: summaryGroups, list: listParameters } as const;

const isOfPage = (name: string): name is keyof typeof ofPage => Object.hasOwn(ofPage, name);

/**
 * A parameter that a link of the page may have: all of the report but those of the response itself,
 * the dimension by which the records are counted instead of listed, and the filter that has a list
 * of values, which are too many for a link.
 */
export type LinkParameter = ReportParameter | keyof typeof ofPage;

/** These parameters in the order of the documentation. */
export const linkParameters: readonly LinkParameter[] = [
  ...Object.keys(schemas).filter((name): name is ReportParameter => !ofResponse.some((other) => other === name)),
  'by',
  'list',
];

/**
 * The fault of a value that the service would reject, or `undefined`. The largest page and size are
 * settings of the service, which alone checks them.
 */
export function valueFault(name: LinkParameter, text: string): Fault | undefined {
  if (isOfPage(name)) return wordFault(name, text);
  if (name === 'fields') return readFields(text).faults[0];
  if (isValid(name, text)) return undefined;
  return { parameter: name, value: name === 'email' ? null : shorten(text), rule: ruleOf(schemas[name]) };
}

const wordFault = (name: keyof typeof ofPage, text: string): Fault | undefined =>
  ofPage[name].some((word) => word === text)
    ? undefined
    : { parameter: name, value: shorten(text), rule: `one of ${ofPage[name].join(', ')}` };

function isValid(name: ReportParameter, text: string): boolean {
  if (name === 'as-of') return readAsOf(text, new Date()) !== undefined;
  if (name === 'zone') return findZone(text) !== undefined;
  if (name === 'expires-within') return parseDuration(text) !== undefined;
  if (name === 'size' || name === 'page') return readWholeNumber({}, text) !== undefined;
  const { enum: words } = schemas[name] as { enum?: readonly string[] };
  if (words !== undefined) return words.includes(text);
  if (instantParameters.has(name)) return (instantOfDay(text, new Date()) ?? parseInstant(text)) !== undefined;
  return fitsText(schemas[name], text);
}
