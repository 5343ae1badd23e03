import { strings } from '../../ui/strings.ts';
import type { FilterChanges, ReportFilters } from '../link/report-state.ts';
import { filterStrings as text } from './filter-strings.ts';
import { type Filter, type FilterKind, filterKinds, filters } from './filters.ts';

/** What the user can choose in the list of filters: a filter to edit, or one that is complete. */
export type FilterSuggestion =
  | { readonly label: string; readonly edit: FilterKind }
  | { readonly label: string; readonly apply: FilterChanges };

/**
 * What a typed text can mean: filters that have it as their value, then those whose name contains
 * it, then choices that do. Without a text, all filters that are not in use.
 */
export function suggestFilters(typed: string, used: ReportFilters, now: Date): readonly FilterSuggestion[] {
  const wanted = typed.trim().toLowerCase();
  const addable = filterKinds.filter((kind) => isAddable(filters[kind], used));
  const names = addable.flatMap((edit) => ({ label: filters[edit].name ?? '', edit })).filter(contains(wanted));
  if (wanted === '') return names;
  const choices = addable.flatMap((kind) => {
    const { label, choices: all } = filters[kind];
    return (all?.(now) ?? []).map(({ value, apply }) => ({ label: strings.filters.chip(label, value), apply }));
  });
  const found = [...names, ...choices.filter(contains(wanted))];
  return [...valuesOf(typed, addable, found.length === 0), ...found];
}

const contains =
  (wanted: string) =>
  ({ label }: { readonly label: string }): boolean =>
    label.toLowerCase().includes(wanted);

/** Whether a filter is neither in use nor rejected beside the others. */
const isAddable = ({ name, parameters, isExcluded }: Filter, used: ReportFilters): boolean =>
  name !== undefined &&
  parameters.every((parameter) => parameter === 'listed' || used[parameter] === undefined) &&
  isExcluded?.(used) !== true;

/**
 * The filters that have a typed or pasted value: the one that surely has it, or any if nothing else
 * is found.
 */
function valuesOf(typed: string, kinds: readonly FilterKind[], isUnknown: boolean): readonly FilterSuggestion[] {
  const readable = kinds.flatMap((kind) => {
    const { name = '', read, owns } = filters[kind];
    const choice = read?.(typed.trim());
    if (choice === undefined) return [];
    const label = text.is(name, choice.value);
    return [{ label, apply: choice.apply, isSure: owns?.(typed) === true }];
  });
  const sure = readable.filter(({ isSure }) => isSure);
  const shown = sure.length > 0 ? sure.slice(0, 1) : isUnknown ? readable : [];
  return shown.map(({ label, apply }) => ({ label, apply }));
}
