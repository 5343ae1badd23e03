import { parseDuration } from '../../../contract/duration.ts';
import { parseInstant } from '../../../contract/instant.ts';
import { type Fault, shorten } from '../../../contract/problem.ts';
import { reportParameters } from '../../../contract/query.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { fitsText, readWholeNumber, ruleOf } from '../../../contract/schema.ts';
import { summaryGroups } from '../../../contract/summary.ts';

const schemas = reportParameters(defaultPageLimits);

/** Parameters of the response itself. */
const ofResponse = ['cursor', 'format', 'fields', 'all'] as const;

type ReportParameter = Exclude<keyof typeof schemas, (typeof ofResponse)[number]>;

/**
 * A parameter that a link of the page may have: all of the report but those of the response itself,
 * and the dimension by which the records are counted instead of listed.
 */
export type LinkParameter = ReportParameter | 'by';

/** These parameters in the order of the documentation. */
export const linkParameters: readonly LinkParameter[] = [
  ...Object.keys(schemas).filter((name): name is ReportParameter => !ofResponse.some((other) => other === name)),
  'by',
];

/**
 * The fault of a value that the service would reject, or `undefined`. The largest page and size are
 * settings of the service, which alone checks them.
 */
export function valueFault(name: LinkParameter, text: string): Fault | undefined {
  if (name === 'by') return dimensionFault(text);
  if (isValid(name, text)) return undefined;
  return { parameter: name, value: name === 'email' ? null : shorten(text), rule: ruleOf(schemas[name]) };
}

const dimensionFault = (text: string): Fault | undefined =>
  summaryGroups.some((group) => group === text)
    ? undefined
    : { parameter: 'by', value: shorten(text), rule: `one of ${summaryGroups.join(', ')}` };

function isValid(name: ReportParameter, text: string): boolean {
  if (name === 'expires-within') return parseDuration(text) !== undefined;
  if (name === 'size' || name === 'page') return readWholeNumber({}, text) !== undefined;
  const { enum: words, format } = schemas[name] as { enum?: readonly string[]; format?: string };
  if (words !== undefined) return words.includes(text);
  return format === 'date-time' ? parseInstant(text) !== undefined : fitsText(schemas[name], text);
}
