import { changeParameters, sinceNow } from '../contract/change.ts';
import { parseForm } from '../contract/form.ts';
import { type ChangeKind, changeKinds } from '../contract/history.ts';
import { malformedFault, nameFaults } from '../contract/parameter-faults.ts';
import { shorten } from '../contract/problem.ts';
import { type ReportFormat, reportFormats } from '../contract/report.ts';
import { readWholeNumber, ruleOf } from '../contract/schema.ts';
import { type ChangeToken, decodeChangeToken } from './change-token.ts';
import { ReportError, refuse } from './error.ts';
import { memberOf } from './filters.ts';
import { parseMoment } from './moment.ts';
import type { QueryContext } from './report-query.ts';

/**
 * Parses the query string of the changes, without its `?`. Throws `ReportError` with every fault at
 * once, or `UNACCEPTABLE` if `accepted` is `undefined`. Whether the token belongs to the tenant and
 * its store is checked when the changes are read.
 */
export function parseChanges(
  queryString: string,
  { limits, now }: QueryContext,
  accepted: ChangeFormat | undefined,
): ChangesQuery {
  const schemas = changeParameters(limits);
  const { pairs, malformed } = parseForm(queryString);
  const faults = [...malformed.map(malformedFault), ...nameFaults(pairs, Object.keys(schemas))];
  const read = <T>(name: keyof typeof schemas, parse: (text: string) => T | undefined): T | undefined => {
    const text = pairs.find((pair) => pair.name === name)?.value;
    const value = text === undefined ? undefined : parse(text);
    if (text !== undefined && value === undefined)
      faults.push({ parameter: name, value: shorten(text), rule: ruleOf(schemas[name]) });
    return value;
  };
  const since = read('since', (text) =>
    text === sinceNow ? sinceNow : (decodeChangeToken(text) ?? readInstant(text, now())),
  );
  const before = read('before', (text) => memberOf(['true', 'false'], text)) === 'true';
  const kinds = read('kind', readKinds);
  const size = read('size', (text) => readWholeNumber(schemas.size, text)) ?? limits.sizeDefault;
  refuse(faults, malformed.length > 0);
  if (accepted === undefined) throw noFormFits();
  return { ...(since && { since }), before, ...(kinds && { kinds }), size, format: accepted };
}

/** An instant of the past; a revision would be a token that lost its other parts. */
function readInstant(text: string, nowSeconds: number): { readonly seconds: number } | undefined {
  const moment = parseMoment(text, nowSeconds);
  return moment !== undefined && 'seconds' in moment ? moment : undefined;
}

/** The kinds that a list names, in the order of the contract. */
function readKinds(text: string): readonly ChangeKind[] | undefined {
  const words = text.split(',');
  const kinds = changeKinds.filter((kind) => words.includes(kind));
  return kinds.length === words.length ? kinds : undefined;
}

const noFormFits = (): ReportError =>
  new ReportError('UNACCEPTABLE', [
    `Cannot respond in the requested format: the header 'accept' must allow ${changeFormats.map((word) => reportFormats[word].mediaType).join(' or ')}`,
  ]);

/** The formats of the changes: those that can contain the following token. */
export const changeFormats = ['json', 'ndjson'] as const satisfies readonly ReportFormat[];
export type ChangeFormat = (typeof changeFormats)[number];

/** A validated query of changes; whether the token belongs to the store is checked later. */
export interface ChangesQuery {
  /** Absent to read from the beginning. */
  readonly since?: ChangeToken | typeof sinceNow | { readonly seconds: number };
  /** Whether each change has its kind, time and import, and the record as it was. */
  readonly before: boolean;
  /** Only changes of these kinds. */
  readonly kinds?: readonly ChangeKind[];
  readonly size: number;
  readonly format: ChangeFormat;
}
