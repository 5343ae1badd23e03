import { expect, test } from 'vitest';
import { databaseWarning } from './announce.ts';

test.each([
  undefined,
  'postgres://me:hush@localhost/db',
  'postgres://me:hush@127.0.0.1:6432/db',
  'postgres://me:hush@[::1]/db',
  'postgres:///db?host=/var/run/postgresql',
  'postgres://me@%2Fvar%2Frun/db',
  'postgres://me:hush@db.example.com/db?sslmode=verify-full&sslrootcert=/etc/ca.pem',
])('a database at %s needs no warning', (url) => {
  expect(databaseWarning(url)).toBeUndefined();
});

test.each(['', '?sslmode=disable', '?sslmode=no-verify', '?sslmode=require&uselibpqcompat=true'])(
  'a database of another machine with %j gets a warning without its password',
  (options) => {
    const warning = databaseWarning(`postgres://me:hush@db.example.com/db${options}`);
    expect(warning).toContain("current host is 'db.example.com'");
    expect(warning).toContain('sslmode=verify-full');
    expect(warning).not.toContain('hush');
  },
);
