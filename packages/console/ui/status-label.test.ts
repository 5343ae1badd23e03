import { expect, test } from 'vitest';
import { filterStatusWord, statusTone, statusWord } from './status-label.tsx';

test('a known status and none have a word of their own', () => {
  expect([statusWord('ACTIVE'), statusTone('ACTIVE')]).toEqual(['Active', 'active']);
  expect([statusWord(null), statusTone(null)]).toEqual(['No status', 'unknown']);
});

test.each(['ON_HOLD', 'none', ...Object.getOwnPropertyNames(Object.prototype)])(
  'the status %s is shown as it is',
  (status) => {
    expect([statusWord(status), statusTone(status)]).toEqual([status, 'unknown']);
  },
);

test('the filter writes no status as none, and the status none with a backslash', () => {
  expect(['none', '\\none', '\\\\none'].map(filterStatusWord)).toEqual(['No status', 'none', '\\none']);
});
