/**
 * Status of a subscription: an open set of strings of 1 to 64 characters. Accept ones that are not
 * named here.
 */
export type SubscriptionStatus = 'PENDING' | 'ACTIVE' | 'DEPLETED' | 'EXPIRED' | (string & {});

/** The product of a subscription. All but its `id` may be absent. */
export interface Product {
  id: string;
  name?: string;
  /** Length of the product period, in `period_unit`; may be 0. */
  period?: number;
  period_unit?: 'DAYS' | (string & {});
  plan_id?: string;
}

/** A subscription as the service sends it. Dates are UTC strings, `2024-05-01T08:00:00Z`. */
export interface Subscription {
  id: string;
  /** Absent if the status is unknown to the service. */
  status?: SubscriptionStatus;
  activationDate: string;
  expirationDate: string;
  createdDate: string;
  product: Product;
  iccid: string;
  device_id: string;
  /** The string `"true"` or `"false"`: both are truthy. With `parse: true`, it is a boolean. */
  auto_renew: string;
}

/** The fields that are the strings `"true"` and `"false"`. The names of dates end with `Date`. */
const booleans = ['auto_renew'] as const satisfies readonly (keyof Subscription)[];

/** A subscription with `Date`s and a boolean `auto_renew`: the records of `parse: true`. */
export type ParsedSubscription = {
  [Name in keyof Subscription]: Name extends `${string}Date`
    ? Date
    : Name extends (typeof booleans)[number]
      ? boolean
      : Subscription[Name];
};

/** The records of a call: parsed with `parse: true`, otherwise those of the JSON response. */
export type RecordOf<Parse extends boolean> = Parse extends true ? ParsedSubscription : Subscription;

/**
 * Converts the dates and `auto_renew` of a record, as far as it has them.
 *
 * @example parseSubscription(record).auto_renew // false, where record.auto_renew is 'false'
 */
export function parseSubscription(record: Subscription): ParsedSubscription {
  const members = (Object.entries(record) as [string, string][]).map(([name, value]) => {
    if (name.endsWith('Date')) return [name, new Date(value)];
    return [name, (booleans as readonly string[]).includes(name) ? value.toLowerCase() === 'true' : value];
  });
  return Object.fromEntries(members) as ParsedSubscription;
}

/** A tombstone: the record of this id was removed. */
export interface RemovedSubscription {
  id: string;
  removed: true;
}

/** The last change of a record: its current version, or a tombstone. */
export type SubscriptionChange = Subscription | RemovedSubscription;

/** Whether a change is the tombstone of a removed record. */
export function isRemoved(change: SubscriptionChange): change is RemovedSubscription {
  return 'removed' in change;
}

/** What happened to a record since a moment. */
export type ChangeKind = 'added' | 'changed' | 'removed';

/** A change with its kind and the former record, as `before: true` returns it. */
export type DescribedChange = SubscriptionChange & {
  kind: ChangeKind;
  /** When the change was committed; absent if that was before the kept history. */
  committed_at?: string;
  /** The import that made the change. */
  import_id?: string;
  /** The record at the moment in `since`; absent if it was added, or erased later. */
  before?: Subscription;
};

/** The changes of a call. */
export type ChangeOf<Before extends boolean> = Before extends true ? DescribedChange : SubscriptionChange;

/** A version of a record, its removal, or an erased version. */
export interface SubscriptionVersion {
  /** The revision that made it. */
  readonly revision: number;
  /** When it was committed; absent if that was before the kept history. */
  readonly committed_at?: string;
  /** The import that made it. */
  readonly import_id?: string;
  readonly record?: Subscription;
  readonly removed?: true;
  /** Versions that began with this revision have been erased. */
  readonly erased?: true;
}

/** The kept versions of one record, newest first. */
export interface SubscriptionHistory {
  readonly id: string;
  readonly versions: readonly SubscriptionVersion[];
  /** Whether older versions are kept that are not in this response; `as-of` reads them. */
  readonly has_more: boolean;
}

/** One kind of finding. */
export interface SubscriptionFinding {
  /** Such as `no-status` or `iccid-active-twice`; more kinds may be added. */
  readonly kind: string;
  /** Number of records, ICCIDs, devices or product ids. */
  readonly count: number;
  /** Since when there has been one, as far as the service knows. */
  readonly since?: string;
  /** At most 10, with at most 10 ids of records each. */
  readonly examples: readonly {
    readonly iccid?: string;
    readonly device_id?: string;
    readonly product_id?: string;
    readonly ids: readonly string[];
  }[];
}

/** What is contradictory or missing in the records. */
export interface SubscriptionFindings {
  readonly total: number;
  /** Ends before this instant have passed. */
  readonly evaluated_at: string;
  /** When a record was last changed, as far as the service knows. */
  readonly changed_at?: string;
  /** Every kind, also those without records. */
  readonly findings: readonly SubscriptionFinding[];
}

/** A page of changes. Apply them in this order. */
export interface ChangesPage<Change = SubscriptionChange> {
  readonly changes: readonly Change[];
  /** The change token to continue from. Store it together with the applied changes. */
  readonly next: string;
  /** Whether more changes are available now. If false, the copy is up to date. */
  readonly hasMore: boolean;
  /**
   * The revision of the report that the page is from: that of the copy once `hasMore` is false.
   * `NaN` if the service does not send it.
   */
  readonly revision?: number;
}

/** How many records were added, changed and removed. */
interface KindCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** How many changed records went from one value to another one. */
export interface Transition<Value = string> {
  readonly from: Value;
  readonly to: Value;
  readonly count: number;
}

/** A transition between statuses; `null` is none. */
export type StatusTransition = Transition<SubscriptionStatus | null>;

/** Exact counts of the changes of a period, each record counted once. */
export interface ChangesSummary extends KindCounts {
  readonly total: number;
  /** Changed records whose end became later. */
  readonly renewed: number;
  readonly by: {
    /** The most frequent ones first. */
    readonly status: readonly StatusTransition[];
    readonly 'product-id': readonly (Transition & { readonly from_name?: string; readonly to_name?: string })[];
    readonly 'auto-renew': readonly Transition[];
    /** Days of `zone`, in order; `null`: before the kept history. */
    readonly day: readonly (KindCounts & { readonly value: string | null })[];
    /** The newest import first; without an id, all that was changed without an import. */
    readonly import: readonly (KindCounts & {
      readonly import_id?: string;
      readonly first_at?: string;
      readonly last_at?: string;
      readonly renewed: number;
      readonly status: readonly StatusTransition[];
      /** Changed records whose status changed in a way that is not listed. */
      readonly omitted: number;
    })[];
  };
  /** What the lists leave out: records with other transitions, and older imports. */
  readonly omitted: { readonly status: number; readonly 'product-id': number; readonly import: number };
  /** The time zone of the query, if it has one. */
  readonly zone?: string;
  /** The revision before the period, and its last one. */
  readonly since_revision: number;
  readonly revision: number;
  /** The change token of the end of the period. */
  readonly next: string;
}

/** A value of a dimension and the number of records that have it. */
export interface SummaryCount<Value = string> {
  readonly value: Value;
  readonly count: number;
}

/** A product and the number of its records. */
export interface ProductCount extends SummaryCount {
  /** Name of the product in the record that was created last, whatever the filters. */
  readonly name?: string;
}

/** Counts of subscriptions from one snapshot. The counts of each dimension add up to `total`. */
export interface SubscriptionSummary {
  readonly total: number;
  /** Why no record matches: none has a status, product or plan of the filters. */
  readonly explanation?: string;
  /** The time zone of the query, if it has one; days and months are otherwise in UTC. */
  readonly zone?: string;
  /** The requested dimensions, each ordered by value. */
  readonly by: {
    /** `null`: records without a status. */
    readonly status?: readonly SummaryCount<SubscriptionStatus | null>[];
    readonly 'product-id'?: readonly ProductCount[];
    /** `null`: records whose product has no plan. */
    readonly 'plan-id'?: readonly SummaryCount<string | null>[];
    readonly 'auto-renew'?: readonly SummaryCount[];
    /** Days in UTC, `2024-05-01`. */
    readonly day?: readonly SummaryCount[];
    /** Months in UTC, `2024-05`. */
    readonly month?: readonly SummaryCount[];
  };
}
