import { expect, test } from 'vitest';
import { callerActionNames, operatorActionNames } from '../../../contract/operator/audit.ts';
import { actionOptions, actionWord } from './audit-actions.ts';

test('every action of the audit log is offered once', () => {
  expect(actionOptions.map(({ value }) => value).sort()).toEqual([...operatorActionNames, ...callerActionNames].sort());
});

test.each([
  ['console.sign-in', 'operator', 'ok', 'Operator signed in'],
  ['console.sign-in', 'client', 'ok', 'Client signed in'],
  ['console.sign-out', 'operator', 'ok', 'Operator signed out'],
  ['console.sign-in', 'anonymous', 'refused', 'Sign-in to a console'],
  ['console.sign-in', 'client', 'refused', 'Sign-in to a console'],
  ['tenant.create', 'operator', 'ok', 'Tenant created'],
  ['later.action', 'operator', 'ok', 'later.action'],
])('%s of an actor of the kind %s, %s, is "%s"', (action, kind, outcome, word) => {
  expect(actionWord({ action, outcome, actor: { kind, id: null, name: null } })).toBe(word);
});
