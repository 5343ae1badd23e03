import { expect, test } from 'vitest';
import { paintStatus } from './subscription-layout.ts';

test('a known status has a color', () => {
  expect(paintStatus('ACTIVE')).not.toBe('ACTIVE');
});

test.each(['ON_HOLD', '-', ...Object.getOwnPropertyNames(Object.prototype)])('the status %s has none', (status) => {
  expect(paintStatus(status)).toBe(status);
});
