import { knownStatuses, noStatus } from '../../../contract/subscription.ts';
import { filterStatusWord } from '../../ui/status-label.tsx';
import { valueFault } from '../link/check-value.ts';
import type { FilterChanges, ReportFilters } from '../link/report-state.ts';
import { strings } from '../strings.ts';
import { groupIccid } from '../words/iccid.ts';
import { createdPresets, endsWithinDays, presetInLink } from './days.ts';
import { forValueKinds, type ValueKind, valueFilters, valueKinds } from './value-filters.ts';

const text = strings.subscriptions;

/** The filters that can be added; `activated` and `endsBetween` use the same parameters. */
export type AddableFilter = Exclude<keyof typeof text.filter, 'ends'> | ValueKind | 'endsWithin' | 'endsBetween';

/** What the user can choose in the list of filters: a filter to edit, or one that is complete. */
export type FilterSuggestion =
  | { readonly label: string; readonly edit: AddableFilter }
  | { readonly label: string; readonly apply: FilterChanges };

/**
 * The filters that a typed text can mean: values first, then the filters whose name contains it.
 * Without a text, all filters that are not in use.
 */
export function suggestFilters(typed: string, filters: ReportFilters, now: Date): readonly FilterSuggestion[] {
  const wanted = typed.trim().toLowerCase();
  const names = addable(filters)
    .map((edit) => ({ label: labels[edit], edit }))
    .filter(({ label }) => label.toLowerCase().includes(wanted));
  if (wanted === '') return names;
  const complete = [...statuses(), ...periods(now)].filter(({ label }) => label.toLowerCase().includes(wanted));
  const found = [...names, ...complete];
  return [...valuesOf(typed.trim(), found.length === 0), ...found].filter(
    (suggestion) => 'edit' in suggestion || isUnused(suggestion.apply, filters),
  );
}

const labels: { readonly [Name in AddableFilter]: string } = {
  ...text.filter,
  ...forValueKinds(({ label }) => label),
  endsWithin: text.endsWithin,
  endsBetween: text.endsBetween,
};

const order: readonly AddableFilter[] = [
  'status',
  'product',
  'endsWithin',
  'created',
  'renewal',
  ...valueKinds,
  'activated',
  'endsBetween',
];

const parametersOf: { readonly [Name in AddableFilter]: readonly (keyof ReportFilters)[] } = {
  status: ['status'],
  product: ['product-id'],
  created: ['created-from', 'created-to'],
  endsWithin: ['expires-within'],
  renewal: ['auto-renew'],
  ...forValueKinds(({ parameter }) => [parameter]),
  activated: ['date-field', 'after', 'before'],
  endsBetween: ['date-field', 'after', 'before'],
};

/** The filters that are not in use. An end date is limited once: the service rejects both. */
const addable = (filters: ReportFilters): readonly AddableFilter[] =>
  order.filter(
    (name) =>
      parametersOf[name].every((parameter) => filters[parameter] === undefined) &&
      !(name === 'endsBetween' && filters['expires-within'] !== undefined) &&
      !(name === 'endsWithin' && filters['date-field'] === 'expiration'),
  );

const isUnused = (changes: FilterChanges, filters: ReportFilters): boolean =>
  Object.keys(changes).every((name) => filters[name as keyof ReportFilters] === undefined) &&
  !('expires-within' in changes && filters['date-field'] === 'expiration');

const statuses = (): readonly FilterSuggestion[] =>
  [...knownStatuses, noStatus].map((status) => suggest(text.filter.status, filterStatusWord(status), { status }));

const periods = (now: Date): readonly FilterSuggestion[] => [
  ...endsWithinDays.map((days) =>
    suggest(text.filter.ends, text.within(text.days(days)), { 'expires-within': `${days}d` }),
  ),
  ...createdPresets.map((preset) => {
    const { from, to } = presetInLink(preset, now);
    return suggest(text.filter.created, text.preset[preset], { 'created-from': from, 'created-to': to });
  }),
];

const suggest = (label: string, value: string, apply: FilterChanges): FilterSuggestion => ({
  label: text.chip(label, value),
  apply,
});

/** What a value that was typed or pasted can be. */
function valuesOf(typed: string, isUnknown: boolean): readonly FilterSuggestion[] {
  const { iccid, ...others } = valueFilters;
  const digits = iccid.read?.(typed) ?? typed;
  if (valueFault('iccid', digits) === undefined)
    return [{ label: text.suggestion.is(iccid.label, groupIccid(digits)), apply: { iccid: digits } }];
  const isAddress = typed.includes('@');
  if (!isUnknown && !isAddress) return [];
  const possible = isAddress ? [others.subscriber] : Object.values(others);
  return possible
    .filter(({ parameter }) => valueFault(parameter, typed) === undefined)
    .map(({ parameter, label }) => ({ label: text.suggestion.is(label, typed), apply: { [parameter]: typed } }));
}
