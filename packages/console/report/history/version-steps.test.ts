import { expect, test } from 'vitest';
import type { Subscription, SubscriptionHistory, SubscriptionVersion } from '../../../client/index.ts';
import { stepsOf } from './version-steps.ts';

const record = { id: 'a', status: 'ACTIVE' } as Subscription;
const depleted = { ...record, status: 'DEPLETED' };
const at = '2026-11-20T02:00:04Z';
const history = (...versions: SubscriptionVersion[]): SubscriptionHistory => ({ id: 'a', versions, has_more: false });
const kindsOf = (given: SubscriptionHistory) => stepsOf(given).map(({ kind }) => kind);

test('each version is compared with the one before it', () => {
  const steps = stepsOf(
    history(
      { revision: 4, committed_at: at, import_id: 'import', record: depleted },
      { revision: 3, committed_at: at, record },
      { revision: 2, committed_at: at, removed: true },
      { revision: 1, committed_at: at, record },
    ),
  );
  expect(steps.map(({ kind }) => kind)).toEqual(['changed', 'added', 'removed', 'added']);
  expect(steps[0]).toEqual({ kind: 'changed', revision: 4, at, importId: 'import', before: record, after: depleted });
});

test('the oldest version was added only if nothing earlier can have been there', () => {
  expect(kindsOf(history({ revision: 1, committed_at: at, record }))).toEqual(['added']);
  expect(kindsOf(history({ revision: 1, record }))).toEqual(['known']);
  expect(kindsOf({ ...history({ revision: 1, committed_at: at, record }), has_more: true })).toEqual(['known']);
});

test('nothing is claimed of an erased version', () => {
  expect(
    kindsOf(
      history({ revision: 2, committed_at: at, record: depleted }, { revision: 1, committed_at: at, erased: true }),
    ),
  ).toEqual(['known', 'erased']);
});
