import { expect, test } from 'vitest';
import { fileName } from './file-name.ts';

const at = new Date('2026-11-22T10:15:07.500Z');

test('a file name has no character of the tenant that a file system or a shell treats specially', () => {
  expect(fileName('../a/b: c*"<$(id)>', at, 'ndjson')).toBe('a-b-c-id-subscriptions-20261122T101507Z.ndjson');
});
