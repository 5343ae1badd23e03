import { readIccid } from '../../../contract/read-iccid.ts';
import { knownStatuses, noStatus } from '../../../contract/subscription.ts';
import { filterStatusWord } from '../../ui/status-label.tsx';
import { valueFault } from '../link/check-value.ts';
import type { FilterChanges, FilterName, ReportFilters, ReportState } from '../link/report-state.ts';
import { groupIccid } from '../words/iccid.ts';
import { describeAfterBefore, describeDuration, describeFromTo } from './describe-interval.ts';
import { filterStrings as text } from './filter-strings.ts';
import { createdPresets, endsWithinDays, presetInLink, presetOf } from './presets.ts';

/** What the words depend on besides the filters. */
export interface WordContext {
  readonly now: Date;
  /** The name of a product; its id if the name is unknown. */
  readonly productName: (id: string) => string;
}

/** A value that can be chosen as it is. */
export interface FilterChoice {
  /** `last 7 days` */
  readonly value: string;
  readonly apply: FilterChanges;
}

/** A filter as people know it: how it is shown, suggested, read and edited. */
export interface Filter {
  /** What `withFilters` changes of it. */
  readonly parameters: readonly (keyof FilterChanges)[];
  /** `Status`, in its chip. */
  readonly label: string;
  /** Its name in the list of filters, if that is another; without one, it is not in the list. */
  readonly name?: string | undefined;
  /**
   * Its value in the chip, `Active, Depleted`, and its words within a sentence, `status Active or
   * Depleted`; `undefined` if it is not in use.
   */
  readonly show: (state: ReportState, context: WordContext) => Shown | undefined;
  /** The values that a typed text finds. */
  readonly choices?: (now: Date) => readonly FilterChoice[];
  /** What a typed or pasted value means, if it can be one of this filter. */
  readonly read?: (typed: string) => FilterChoice | undefined;
  /** Whether such a value is surely one of this filter. */
  readonly owns?: (typed: string) => boolean;
  /** Whether the service rejects it beside these. */
  readonly isExcluded?: (others: ReportFilters) => boolean;
  /** How it is edited (editors/filter-editor.tsx). */
  readonly editor: 'status' | 'product' | 'choices' | 'created' | 'ends' | 'bounds' | 'text' | 'list';
  /** Help below the field of a text. */
  readonly hint?: string | undefined;
  /** The value of what was typed or pasted; without its outer spaces by default. */
  readonly clean?: (typed: string) => string;
  /** The date that bounds limit, as `date-field` names it. */
  readonly field?: DateField;
}

type DateField = 'created' | 'activation' | 'expiration';

interface Shown {
  readonly value: string;
  readonly phrase: string;
}

interface TypedFilter extends Pick<Filter, 'label' | 'owns' | 'hint' | 'clean'> {
  readonly parameter: FilterName;
  /** `device D-17` */
  readonly phrase: (value: string) => string;
  /** The value as people read it. */
  readonly show?: (value: string) => string;
}

/** A filter by one value that is typed. */
function typedFilter({ parameter, phrase, show = String, ...words }: TypedFilter): Filter {
  const shown = (value: string) => ({ value, phrase: phrase(value) });
  return {
    ...words,
    parameters: [parameter],
    name: words.label,
    show: ({ filters: { [parameter]: value }, asksForEmail }) => {
      if (parameter === 'email' && asksForEmail) return shown(text.hidden);
      return value === undefined ? undefined : shown(show(value));
    },
    read: (typed) => {
      const value = (words.clean ?? trim)(typed);
      const isValid = valueFault(parameter, value) === undefined;
      return isValid ? { value: show(value), apply: { [parameter]: value } } : undefined;
    },
    editor: 'text',
  };
}

/** A value without its outer spaces. */
export const trim = (typed: string): string => typed.trim();

/** Bounds of one of the dates, both excluded by the service. */
const dateBounds = (
  field: DateField,
  words: Pick<Filter, 'label' | 'name' | 'isExcluded'> & { readonly phrase: (value: string) => string },
): Filter => ({
  ...words,
  parameters: ['date-field', 'after', 'before'],
  show: ({ filters: { 'date-field': used, after, before } }) => {
    const isUsed = used !== undefined || after !== undefined || before !== undefined;
    if (!isUsed || (used ?? 'created') !== field) return undefined;
    const value = describeAfterBefore(after, before) || text.interval.any;
    return { value, phrase: words.phrase(value) };
  },
  editor: 'bounds',
  field,
});

/** The days that `last month` has become, if the link has words for them. */
function resolvedDays({ filters, days }: ReportState): string {
  const isByWord = [days['created-from'], days['created-to']].some((day) => day !== undefined && !/^\d/.test(day));
  return isByWord ? ` (${describeFromTo(filters['created-from'], filters['created-to'])})` : '';
}

const rows = {
  status: {
    parameters: ['status'],
    label: text.status,
    name: text.status,
    show: ({ filters: { status } }) => {
      if (status === undefined) return undefined;
      const statuses = status.split(',');
      const phrase = text.phrase.status(statuses.map((each) => (each === noStatus ? each : filterStatusWord(each))));
      return { value: statuses.map(filterStatusWord).join(', '), phrase };
    },
    choices: () =>
      [...knownStatuses, noStatus].map((status) => ({ value: filterStatusWord(status), apply: { status } })),
    editor: 'status',
  },
  product: {
    parameters: ['product-id'],
    label: text.product,
    name: text.product,
    show: ({ filters: { 'product-id': id } }, { productName }) =>
      id === undefined ? undefined : { value: productName(id), phrase: text.phrase.product(productName(id)) },
    editor: 'product',
  },
  endsWithin: {
    parameters: ['expires-within'],
    label: text.ends,
    name: text.endsWithin,
    show: ({ filters: { 'expires-within': duration } }) => {
      if (duration === undefined) return undefined;
      const value = text.within(describeDuration(duration));
      return { value, phrase: text.phrase.ends(value) };
    },
    choices: () =>
      endsWithinDays.map((days) => ({ value: text.within(text.days(days)), apply: { 'expires-within': `${days}d` } })),
    isExcluded: ({ 'date-field': field }) => field === 'expiration',
    editor: 'ends',
  },
  created: {
    parameters: ['created-from', 'created-to'],
    label: text.created,
    name: text.created,
    show: (state, { now }) => {
      const { 'created-from': from, 'created-to': to } = state.filters;
      if (from === undefined && to === undefined) return undefined;
      const preset = presetOf(state, now);
      if (preset !== undefined) {
        const value = text.preset[preset];
        return { value, phrase: text.phrase.preset(value) + resolvedDays(state) };
      }
      const value = describeFromTo(from, to);
      return { value, phrase: text.phrase.created(value) };
    },
    choices: (now) =>
      createdPresets.map((preset) => {
        const { from, to } = presetInLink(preset, now);
        return { value: text.preset[preset], apply: { 'created-from': from, 'created-to': to } };
      }),
    editor: 'created',
  },
  renewal: {
    parameters: ['auto-renew'],
    label: text.renewal,
    name: text.renewal,
    show: ({ filters: { 'auto-renew': renews } }) => {
      if (renews === undefined) return undefined;
      const word = renews === 'true' ? 'true' : 'false';
      return { value: text.renews[word], phrase: text.phrase.renewal[word] };
    },
    choices: () =>
      (['true', 'false'] as const).map((renews) => ({ value: text.renews[renews], apply: { 'auto-renew': renews } })),
    editor: 'choices',
  },
  iccid: typedFilter({
    parameter: 'iccid',
    label: 'ICCID',
    phrase: (iccid) => `ICCID ${iccid}`,
    hint: '15 to 22 digits',
    show: groupIccid,
    clean: readIccid,
    owns: (typed) => readIccid(typed).startsWith('89'), // other digits may be the IMEI of a device
  }),
  subscriber: typedFilter({
    parameter: 'email',
    label: 'Email or subscriber',
    phrase: (address) => `subscriber ${address}`,
    hint: 'The address is never part of the link.',
    owns: (typed) => typed.includes('@'),
  }),
  id: typedFilter({ parameter: 'id', label: 'Subscription id', phrase: (id) => `subscription ${id}` }),
  device: typedFilter({ parameter: 'device-id', label: 'Device', phrase: (id) => `device ${id}` }),
  plan: typedFilter({ parameter: 'plan-id', label: 'Plan', phrase: (id) => `plan ${id}` }),
  createdBetween: dateBounds('created', { label: text.created, phrase: text.phrase.created }),
  activated: dateBounds('activation', { label: text.activated, name: text.activated, phrase: text.phrase.activated }),
  endsBetween: dateBounds('expiration', {
    label: text.ends,
    name: 'Ends between',
    phrase: text.phrase.ends,
    isExcluded: ({ 'expires-within': duration }) => duration !== undefined,
  }),
  listed: {
    parameters: ['listed'],
    label: text.list.label,
    show: ({ listed, asksForList }) => {
      const name = listed?.name ?? asksForList;
      if (name === undefined) return undefined;
      const value = listed === undefined ? text.hidden : text.list.count[name](listed.values.length);
      return { value, phrase: text.list.phrase(value) };
    },
    editor: 'list',
  },
} satisfies Readonly<Record<string, Filter>>;

export type FilterKind = keyof typeof rows;

/** Every filter, in the order of the chips and of the list: a new one is a row here. */
export const filters: { readonly [Kind in FilterKind]: Filter } = rows;
export const filterKinds = Object.keys(rows) as readonly FilterKind[];

/** What removes some of them. */
export const removalOf = (...kinds: readonly FilterKind[]): FilterChanges =>
  Object.fromEntries(kinds.flatMap((kind) => filters[kind].parameters).map((name) => [name, undefined]));
