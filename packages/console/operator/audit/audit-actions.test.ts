import { expect, test } from 'vitest';
import { auditActions } from '../../../service/audit/audit-event.ts';
import { actionOptions } from './audit-actions.ts';

test('every action of the audit log is offered once, under a heading', () => {
  expect(actionOptions.map(({ value }) => value).sort()).toEqual(Object.keys(auditActions).sort());
});
