import type { Subscription, SubscriptionHistory } from '../../../client/index.ts';
import type { CallOptions } from '../../../client/options.ts';
import { reports } from '../api.ts';
import { requireCounts } from '../store/require-counts.ts';

/** The subscriptions of a SIM and what happened to them. */
export interface Sim {
  /** The newest first, at most 100. */
  readonly records: readonly Subscription[];
  readonly totalCount: number;
  /** Those of the newest subscriptions, at most `historiesMax`. */
  readonly histories: readonly SubscriptionHistory[];
}

const recordsMax = 100;
/** Each is a request. */
const historiesMax = 20;

/** Reads the subscriptions of a SIM and their histories. Rejects as the client library does. */
export async function readSim(iccid: string, options: CallOptions): Promise<Sim> {
  const query = { iccid, sort: '-createdDate', size: recordsMax } as const;
  const page = requireCounts(await reports.subscriptions(query, options).page());
  const ids = page.records.slice(0, historiesMax).map(({ id }) => id);
  const histories = await Promise.all(ids.map((id) => reports.history(id, options)));
  return { records: page.records, totalCount: page.totalCount, histories };
}
