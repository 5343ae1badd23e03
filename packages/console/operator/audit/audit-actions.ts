import type { AuditEntry } from '../../../contract/operator/audit.ts';
import type { FilterOption } from '../parts/list-filter.tsx';
import { strings } from '../strings.ts';

const { actions, actionGroups, actionsOf } = strings.audit;

/** The actions of the audit log in words, by what they concern. */
export const actionOptions: readonly FilterOption[] = Object.entries(actionGroups).flatMap(([group, kinds]) =>
  Object.entries(actions)
    .filter(([action]) => kinds.some((kind) => action.startsWith(`${kind}.`)))
    .map(([value, label]) => ({ value, label, group, detail: value })),
);

/** The action of an entry in words, as its actor did it. */
export function actionWord({ action, actor, outcome }: Pick<AuditEntry, 'action' | 'actor' | 'outcome'>): string {
  const byActor: Readonly<Record<string, Readonly<Record<string, string>>>> = actionsOf;
  const done = outcome === 'ok' ? byActor[action]?.[actor.kind] : undefined;
  const known: Readonly<Record<string, string>> = actions;
  return done ?? known[action] ?? action;
}
