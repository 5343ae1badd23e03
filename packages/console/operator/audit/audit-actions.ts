import type { FilterOption } from '../parts/list-filter.tsx';
import { strings } from '../strings.ts';

const { actions, actionGroups } = strings.audit;

/** The actions of the audit log in words, by what they concern. */
export const actionOptions: readonly FilterOption[] = Object.entries(actionGroups).flatMap(([group, kinds]) =>
  Object.entries(actions)
    .filter(([action]) => kinds.some((kind) => action.startsWith(`${kind}.`)))
    .map(([value, label]) => ({ value, label, group, detail: value })),
);
