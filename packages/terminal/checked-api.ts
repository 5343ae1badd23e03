import { Api, type JsonResponse } from '../client/api.ts';
import type { CallOptions } from '../client/options.ts';
import { ChangesSummary } from '../contract/changes-summary.ts';
import { SubscriptionFindings } from '../contract/findings.ts';
import { SubscriptionHistory } from '../contract/history.ts';
import { misshapeOf } from '../contract/json-value.ts';
import { Product } from '../contract/product.ts';
import { reportPaths } from '../contract/report.ts';
import { Subscription, SubscriptionId } from '../contract/subscription.ts';
import { SubscriptionSummary } from '../contract/summary.ts';
import { Type } from '../contract/type.ts';

type Schema = Parameters<typeof misshapeOf>[0];

/** Other servers of the API may leave out more than the contract allows. */
const record: Schema = { ...Subscription, required: ['id', 'product'] };
const records = Type.Array(record);
/** The same with some fields only. */
const partialRecord: Schema = {
  ...Subscription,
  required: [],
  properties: { ...Subscription.properties, product: { ...Product, required: [] } },
};
const { by, ...counts } = SubscriptionSummary.properties;

const { listSubscriptions: list, listSubscriptionChanges: changes } = reportPaths;

/** The successful responses by their paths; every other path is that of a record. */
const responses: Readonly<Record<string, Schema>> = {
  [list]: records,
  [reportPaths.searchSubscriptions]: records,
  // only the requested dimensions
  [reportPaths.getSubscriptionSummary]: Type.Object({ ...counts, by: { ...by, required: [] } }),
  [`${list}/findings`]: SubscriptionFindings,
  [changes]: changesOf(Type.Object({ id: SubscriptionId })),
  [`${changes}/summary`]: ChangesSummary,
};

/**
 * Requests of the API whose responses have the types and required members of the contract: a
 * server can send any JSON. Other responses reject with `TypeError`.
 */
export class CheckedApi extends Api {
  override async json<T>(
    path: string,
    content: { query?: object; body?: object },
    options: CallOptions,
  ): Promise<JsonResponse<T>> {
    const response = await super.json<T>(path, content, options);
    const { fields } = { ...content.query, ...content.body } as { readonly fields?: unknown };
    const whole = responses[path] ?? (path.endsWith('/history') ? SubscriptionHistory : record);
    const fault = misshapeOf(fields === undefined ? whole : withFields(whole), response.body, 'its body');
    if (fault === undefined) return response;
    throw new TypeError(`Cannot use the response of ${path}: it must be of the API: ${fault}`);
  }
}

function changesOf(change: Schema): Schema {
  return Type.Object({ changes: Type.Array(change), next: Type.String(), has_more: Type.Boolean() });
}

/** The schema of a response that has some fields of its records. */
function withFields(whole: Schema): Schema {
  if (whole === record) return partialRecord;
  if (whole === responses[changes]) return changesOf(Type.Object({}));
  return whole === records ? Type.Array(partialRecord) : whole;
}
