import { changeParameters } from '../contract/change.ts';
import { changesSummaryParameters } from '../contract/changes-summary.ts';
import { subscriptionParameters } from '../contract/history.ts';
import { isListParameter, listedMax } from '../contract/listed-values.ts';
import { reportParameters } from '../contract/query.ts';
import { defaultPageLimits } from '../contract/report.ts';
import { SubscriptionId } from '../contract/subscription.ts';
import { summaryParameters } from '../contract/summary.ts';

/** A JSON Schema of an object. */
export interface ObjectSchema {
  readonly [keyword: string]: unknown;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}

/** Most rows of an answer. */
export const rowsMax = 50;

/** Rows of an answer if `size` is absent. */
export const rowsDefault = 20;

/** What an assistant needs to choose a value: it receives the schemas of all tools each time. */
const told = ['type', 'enum', 'minimum', 'maximum', 'default', 'description'];

const limits = { ...defaultPageLimits, sizeMax: rowsMax, sizeDefault: rowsDefault };

// no email: neither a question nor an answer has an address
const {
  email: _email,
  dates: _ofCsv,
  format: _format,
  all: _all,
  page: _page,
  'as-of': _ofExports,
  ...listed
} = reportParameters(limits);
const { email: _ofSummary, ...counted } = summaryParameters;

const cursor = {
  type: 'string',
  description: 'next_cursor of an earlier answer, with the same filters; size is then that of the earlier question',
};
const pastOfList = {
  ...counted['as-of'],
  description: 'The subscriptions as they were at this instant or revision: the first ones, without a cursor',
};

/** The arguments of the tools, by the names of the API's parameters. */
export const inputs = {
  list: argumentsOf(withLists({ ...listed, cursor, 'as-of': pastOfList })),
  get: argumentsOf({ id: SubscriptionId, ...subscriptionParameters }, ['id']),
  history: argumentsOf({ id: SubscriptionId }, ['id']),
  summary: argumentsOf(counted),
  findings: argumentsOf({}),
  changes: argumentsOf(changeParameters(limits)),
  changesSummary: argumentsOf(changesSummaryParameters, ['since']),
};

/** Filters that take one value or a list. */
function withLists(parameters: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  const entries = Object.entries(parameters).map(([name, schema]) => {
    const { description } = schema as { description?: string };
    const listed = { type: ['string', 'array'], description: `${description}, or any of a list of up to ${listedMax}` };
    return [name, isListParameter(name) ? listed : schema];
  });
  return Object.fromEntries(entries);
}

function argumentsOf(parameters: Readonly<Record<string, object>>, required: readonly string[] = []): ObjectSchema {
  return { type: 'object', properties: brief(parameters), required, additionalProperties: false };
}

function brief(parameters: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  const keep = (schema: object) => Object.fromEntries(Object.entries(schema).filter(([name]) => told.includes(name)));
  return Object.fromEntries(Object.entries(parameters).map(([name, schema]) => [name, keep(schema)]));
}
