import { changeParameters, changesPage } from '../contract/change.ts';
import { ChangesSummary, changesSummaryParameters } from '../contract/changes-summary.ts';
import { subscriptionParameters } from '../contract/history.ts';
import { reportParameters } from '../contract/query.ts';
import { defaultPageLimits } from '../contract/report.ts';
import { Subscription, SubscriptionId } from '../contract/subscription.ts';
import { SubscriptionSummary, summaryParameters } from '../contract/summary.ts';

/** A JSON Schema of an object. */
export interface ObjectSchema {
  readonly [keyword: string]: unknown;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
}

/** Most rows of an answer. */
export const rowsMax = 50;

/** Rows of an answer if `size` is absent. */
export const rowsDefault = 20;

const limits = { ...defaultPageLimits, sizeMax: rowsMax, sizeDefault: rowsDefault };

// no email: neither a question nor an answer has an address
const { email: _email, format: _format, all: _all, page: _page, 'as-of': _asOf, ...listed } = reportParameters(limits);
const { sort: _sort, size: _size, cursor: _ofApi, ...filters } = listed;
const { email: _ofSummary, ...counted } = summaryParameters;

const cursor = {
  type: 'string',
  maxLength: 800,
  description: 'next_cursor of an earlier answer, with the same filters; size is then that of the earlier question',
};

/** The arguments of the tools, by the names of the API's parameters. */
export const inputs = {
  count: argumentsOf(filters),
  list: argumentsOf({ ...listed, cursor }),
  get: argumentsOf({ id: SubscriptionId, ...subscriptionParameters }, ['id']),
  summary: argumentsOf(counted),
  changes: argumentsOf(changeParameters(limits)),
  changesSummary: argumentsOf(changesSummaryParameters, ['since']),
};

const total = { type: 'integer', minimum: 0, description: 'Number of subscriptions that match the filters' };
const omitted = {
  type: 'object',
  additionalProperties: total,
  description:
    'Number of values that each dimension leaves out, because the answer would be too long: those with the smallest counts',
};

const { explanation } = SubscriptionSummary.properties;

/** Members that an answer may not have. */
const optional = ['next_cursor', 'omitted', 'explanation'];

/** The structured content of the answers. */
export const outputs = {
  count: answerOf({ total, explanation }),
  list: answerOf(
    {
      total,
      explanation,
      records: { type: 'array', maxItems: rowsMax, items: Subscription },
      next_cursor: { type: 'string', description: 'The cursor of the following records; absent if there are none' },
    },
    ['total', ...optional], // another server of the API may send no total
  ),
  get: answerOf({ record: Subscription }),
  summary: answerOf({ ...SubscriptionSummary.properties, omitted }),
  changes: answerOf(changesPage(limits).properties),
  changesSummary: answerOf(ChangesSummary.properties),
};

function argumentsOf(parameters: Readonly<Record<string, object>>, required: readonly string[] = []): ObjectSchema {
  return plain({ type: 'object', properties: parameters, required, additionalProperties: false }) as ObjectSchema;
}

function answerOf(members: Readonly<Record<string, object>>, absent: readonly string[] = optional): ObjectSchema {
  const properties = {
    ...members,
    applied_filters: { type: 'string', description: 'The filters that the service applied, as a query string' },
  };
  const required = Object.keys(properties).filter((name) => !absent.includes(name));
  return plain({ type: 'object', properties, required, additionalProperties: false }) as ObjectSchema;
}

/** Without what other validators reject: our own keywords, and formats of integers. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (schema === null || typeof schema !== 'object') return schema;
  const kept = Object.entries(schema).filter(
    ([name, value]) => name !== 'x-rule' && !(name === 'format' && /^int/.test(String(value))),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, plain(value)]));
}
