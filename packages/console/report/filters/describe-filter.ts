import { noStatus } from '../../../contract/subscription.ts';
import { filterStatusWord } from '../../ui/status-label.tsx';
import type { FilterChanges, ReportFilters, ReportState } from '../link/report-state.ts';
import { describeTime } from '../past/describe-time.ts';
import { readAsOf } from '../past/read-as-of.ts';
import { strings } from '../strings.ts';
import { type CreatedPreset, presetOf } from './days.ts';
import { describeAfterBefore, describeDuration, describeFromTo } from './describe-interval.ts';
import { forValueKinds, type ValueKind, valueFilters } from './value-filters.ts';

const text = strings.subscriptions;

/** A filter as people know it: one or several parameters. */
export type FilterKind = 'status' | 'product' | 'created' | 'ends' | 'dates' | 'renewal' | ValueKind | 'listed';

/** What `withFilters` changes of each filter, in the order of the chips. */
export const filterKinds: { readonly [Kind in FilterKind]: readonly (keyof FilterChanges)[] } = {
  status: ['status'],
  product: ['product-id'],
  created: ['created-from', 'created-to'],
  ends: ['expires-within'],
  dates: ['date-field', 'after', 'before'],
  renewal: ['auto-renew'],
  ...forValueKinds(({ parameter }) => [parameter]),
  listed: ['listed'],
};

/** A filter in words. */
export interface FilterText {
  readonly kind: FilterKind;
  /** `Status` */
  readonly label: string;
  /** `Active, Depleted` */
  readonly value: string;
  /** `status Active or Depleted`, within a sentence. */
  readonly phrase: string;
}

/** What the words depend on besides the filters. */
export interface WordContext {
  readonly now: Date;
  /** The name of a product; its id if the name is unknown. */
  readonly productName: (id: string) => string;
}

/** The filters that apply, in words. */
export function describeFilters(state: ReportState, context: WordContext): readonly FilterText[] {
  const kinds = Object.keys(filterKinds) as FilterKind[];
  return kinds.flatMap((kind) => {
    if (kind === 'subscriber' && state.asksForEmail) return [hiddenSubscriber];
    if (kind === 'listed') return describeList(state);
    const isUsed = filterKinds[kind].some((name) => name !== 'listed' && state.filters[name] !== undefined);
    if (!isUsed) return [];
    const words = describers[kind](state.filters, context);
    return [{ kind, ...words, phrase: words.phrase + resolvedDays(kind, state) }];
  });
}

/** The days that `last month` has become. */
function resolvedDays(kind: FilterKind, { filters, days }: ReportState): string {
  const isByWord = kind === 'created' && Object.values(days).some((day) => !/^\d/.test(day));
  return isByWord ? ` (${describeFromTo(filters['created-from'], filters['created-to'])})` : '';
}

/** The past time, within a sentence. */
export function describeAsOf({ asOf }: ReportState): readonly string[] {
  const time = asOf === undefined ? undefined : readAsOf(asOf, new Date());
  return time === undefined ? [] : [strings.past.shown(describeTime(time))];
}

const describeValue = ({ label, phrase }: (typeof valueFilters)[ValueKind], value: string) => ({
  label,
  value,
  phrase: phrase(value),
});

const hiddenSubscriber: FilterText = {
  kind: 'subscriber',
  ...describeValue(valueFilters.subscriber, text.hiddenSubscriber),
};

function describeList({ listed, asksForList }: ReportState): readonly FilterText[] {
  const name = listed?.name ?? asksForList;
  if (name === undefined) return [];
  const value = listed === undefined ? text.hiddenSubscriber : text.list.count[name](listed.values.length);
  return [{ kind: 'listed', label: text.list.label, value, phrase: text.list.phrase(value) }];
}

type Describer = (filters: ReportFilters, context: WordContext) => Omit<FilterText, 'kind'>;

const describers: { readonly [Kind in Exclude<FilterKind, 'listed'>]: Describer } = {
  status: ({ status = '' }) => {
    const statuses = status.split(',');
    const phrase = text.phrase.status(statuses.map((each) => (each === noStatus ? each : filterStatusWord(each))));
    return { label: text.filter.status, value: statuses.map(filterStatusWord).join(', '), phrase };
  },
  product: ({ 'product-id': id = '' }, { productName }) => ({
    label: text.filter.product,
    value: productName(id),
    phrase: text.phrase.product(productName(id)),
  }),
  created: ({ 'created-from': from, 'created-to': to }, { now }) => {
    const preset: CreatedPreset | undefined = presetOf(from, to, now);
    const value = preset === undefined ? describeFromTo(from, to) : text.preset[preset];
    const phrase = preset === undefined ? text.phrase.created(value) : text.phrase.preset[preset];
    return { label: text.filter.created, value, phrase };
  },
  ends: ({ 'expires-within': duration = '' }) => {
    const value = text.within(describeDuration(duration));
    return { label: text.filter.ends, value, phrase: text.phrase.ends(value) };
  },
  dates: ({ 'date-field': field = 'created', after, before }) => {
    const name = dateKinds[field] ?? 'created';
    const value = describeAfterBefore(after, before) || text.interval.any;
    return { label: text.filter[name], value, phrase: text.phrase[name](value) };
  },
  renewal: ({ 'auto-renew': renews }) => {
    const word = renews === 'true' ? 'true' : 'false';
    return { label: text.filter.renewal, value: text.renews[word], phrase: text.phrase.renewal[word] };
  },
  ...forValueKinds(
    (filter): Describer =>
      (filters) =>
        describeValue(filter, (filter.show ?? String)(filters[filter.parameter] ?? '')),
  ),
};

/** Which of the dates `date-field` selects, by the words of the page. */
const dateKinds: Readonly<Record<string, 'created' | 'activated' | 'ends'>> = {
  created: 'created',
  activation: 'activated',
  expiration: 'ends',
};
