import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { exportCommand } from './curl-command.ts';

const origin = 'https://reports.example.com';

/** The arguments that a shell passes to curl. */
function argumentsOf(command: string): string[] {
  const script = `curl() { for argument in "$@"; do printf '%s\\0' "$argument"; done; }; ACCESS_TOKEN=token; ${command}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

test('the command for an export with an email has it in the body, whatever its quotes, and not in the URL', () => {
  const email = `o'neill"$(id)\`id\`\\@example.com`;
  const given = argumentsOf(exportCommand(origin, { email, status: ['ACTIVE'] }, 'ndjson', "it's.ndjson"));
  expect(given[1]).toBe(`${origin}/connect-api/v1/subscription/search`);
  expect(given.at(given.indexOf('-o') + 1)).toBe("it's.ndjson");
  expect(JSON.parse(given.at(-1) ?? '')).toEqual({ email, status: ['ACTIVE'], all: true, format: 'ndjson' });
});

test('a value in the command is never evaluated by the shell', () => {
  const given = argumentsOf(exportCommand(origin, { 'device-id': "'; touch /tmp/x; '$(id)" }, 'csv', 'a.csv'));
  expect(new URL(given[1] ?? '').searchParams.get('device-id')).toBe("'; touch /tmp/x; '$(id)");
});
