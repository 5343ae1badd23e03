import { expect, test } from 'vitest';
import { fileName } from './file-name.ts';

const at = new Date('2026-11-22T10:15:07.500Z');

test('a file name has no character of the tenant that a file system or a shell treats specially', () => {
  expect(fileName('../a/b: c*"<$(id)>', at, 'ndjson')).toBe('a-b-c-id-subscriptions-20261122T101507Z.ndjson');
});

test('a file name says the time of the report and its filters, but no address and no list', () => {
  const query = {
    status: 'ACTIVE,none',
    'as-of': '2026-11-01T00:00:00Z',
    email: 'a@b.c',
    id: ['x'],
    sort: '-createdDate',
  };
  expect(fileName('acme', at, 'csv', undefined, query)).toBe(
    'acme-subscriptions-status-ACTIVE-none-as-of-2026-11-01T00-00-00Z-20261122T101507Z.csv',
  );
});
