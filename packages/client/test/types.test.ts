import { expect, test } from 'vitest';
import type { SubscriptionChange } from '../../contract/change.ts';
import type { TokenResponse } from '../../contract/oauth/token.ts';
import type { Fault, Problem } from '../../contract/problem.ts';
import type { Product } from '../../contract/product.ts';
import type { DateField, ReportParameter, SortValue } from '../../contract/query.ts';
import type { knownStatuses, Subscription } from '../../contract/subscription.ts';
import type { SubscriptionSummary, SummaryGroup, SummaryParameter } from '../../contract/summary.ts';
import type { TokenResponse as ClientTokenResponse } from '../held-token.ts';
import type {
  SubscriptionChange as ClientChange,
  Problem as ClientProblem,
  Product as ClientProduct,
  Subscription as ClientSubscription,
  SubscriptionSummary as ClientSummary,
  ExportQuery,
  ParameterFault,
  SubscriptionPage,
  SubscriptionQuery,
  SubscriptionSort,
  SummaryDimension,
  SummaryQuery,
} from '../index.ts';
import { createClient } from '../index.ts';

// The client declares its types without typebox, so that its declarations stand alone. The compiler
// compares them with the contract here: a difference is a type error in this file.

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Defined<T> = Exclude<T, undefined>;

const same: Record<string, true> = {
  record: true satisfies Same<ClientSubscription, Subscription>,
  product: true satisfies Same<ClientProduct, Product>,
  change: true satisfies Same<ClientChange, SubscriptionChange>,
  // its lists are read-only, so only one direction is assignable
  summary: true satisfies SubscriptionSummary extends ClientSummary ? true : false,
  summaryDimensions: true satisfies Same<keyof ClientSummary['by'], keyof SubscriptionSummary['by']>,
  problem: true satisfies Same<ClientProblem, Problem>,
  fault: true satisfies Same<ParameterFault, Fault>,
  parameters: true satisfies Same<
    keyof SubscriptionQuery,
    Exclude<ReportParameter, 'format' | 'all' | 'as-of' | 'dates'>
  >,
  exportParameters: true satisfies Same<
    keyof ExportQuery,
    Exclude<ReportParameter, 'format' | 'all' | 'size' | 'page' | 'cursor'>
  >,
  summaryParameters: true satisfies Same<keyof SummaryQuery, Exclude<SummaryParameter, 'email'>>,
  dimensions: true satisfies Same<SummaryDimension, SummaryGroup>,
  sort: true satisfies Same<SubscriptionSort, SortValue>,
  dateField: true satisfies Same<Defined<SubscriptionQuery['date-field']>, DateField>,
  token: true satisfies TokenResponse extends ClientTokenResponse ? true : false,
};

type KnownStatus = (typeof knownStatuses)[number];
const known: Record<KnownStatus, NonNullable<ClientSubscription['status']>> = {
  PENDING: 'PENDING',
  ACTIVE: 'ACTIVE',
  DEPLETED: 'DEPLETED',
  EXPIRED: 'EXPIRED',
};

test("the client's types are those of the contract", () => {
  expect(Object.values(same).every(Boolean)).toBe(true);
  expect(Object.keys(known)).toHaveLength(4);
});

test('the type of the records follows parse, and unknown parameters do not compile', () => {
  const client = createClient({ baseUrl: 'https://a/b', tokenUrl: 'https://a/t', clientId: 'a', clientSecret: 'b' });
  const calls = {
    wire: async (): Promise<string | undefined> => (await client.subscriptions().first())?.createdDate,
    parsed: async (): Promise<Date | undefined> =>
      (await client.subscriptions({}, { parse: true }).first())?.createdDate,
    boolean: async (): Promise<boolean> => (await client.subscription('a', { parse: true })).auto_renew,
    page: (): Promise<SubscriptionPage> => client.subscriptions({ sort: '-createdDate' }).page(),
    // @ts-expect-error a parameter that does not exist
    parameter: () => client.subscriptions({ productid: 'x' }),
    // @ts-expect-error a sort order that does not exist
    sort: () => client.subscriptions({ sort: 'id' }),
    // @ts-expect-error an email address would be in the URL
    email: () => client.summary({ email: 'ada@example.com' }),
    // @ts-expect-error a list without a limit
    max: () => client.subscriptions().toArray(),
    // @ts-expect-error exactly one of tokenUrl and issuer
    endpoint: () => createClient({ baseUrl: '', clientId: '', clientSecret: '', tokenUrl: '', issuer: '' }),
  };
  expect(Object.keys(calls)).toHaveLength(9);
});
