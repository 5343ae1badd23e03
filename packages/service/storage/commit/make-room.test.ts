import { expect, test } from 'vitest';
import { makeRoom } from './make-room.ts';

const last = { charged_bytes: 1_000, revision: 5 };

test('records that alone exceed a lowered budget are refused before any history is removed', () => {
  const steps = makeRoom({ last, growth: { total: 10, records: 10 }, bytesMax: 500 });
  const [asked] = steps.next().value as readonly { readonly sql: string }[];
  expect(asked?.sql).toMatch(/^select .* from subscription where/s);
  expect(() => steps.next([[{ bytes: 900 }]])).toThrow('records: the tenant must stay within its storage budget');
});

test('records that fit a lowered budget let the history make room', () => {
  const steps = makeRoom({ last, growth: { total: 10, records: 10 }, bytesMax: 500 });
  steps.next();
  const [asked] = steps.next([[{ bytes: 400 }]]).value as readonly { readonly sql: string }[];
  expect(asked?.sql).toContain('from subscription_version');
});
