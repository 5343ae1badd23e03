import type { AuditEntry } from '../../../contract/operator/audit.ts';
import { strings } from '../strings.ts';

const { actions, actionsOf } = strings.audit;

/** The actions of the audit log in words. */
export const actionOptions = Object.entries(actions).map(([value, label]) => ({ value, label }));

/** The action of an entry in words, as its actor did it. */
export function actionWord({ action, actor, outcome }: Pick<AuditEntry, 'action' | 'actor' | 'outcome'>): string {
  const byActor: Readonly<Record<string, Readonly<Record<string, string>>>> = actionsOf;
  const done = outcome === 'ok' ? byActor[action]?.[actor.kind] : undefined;
  const known: Readonly<Record<string, string>> = actions;
  return done ?? known[action] ?? action;
}
