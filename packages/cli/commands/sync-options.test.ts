import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { destinations, optionsOf } from '../sync/destinations.ts';
import { addSyncCommand } from './sync-command.ts';

/** Expects that a command line is refused before anything is read or written. */
async function expectRefused(line: string, message: string): Promise<void> {
  const silent = { write: () => true };
  const program = new Command().exitOverride();
  addSyncCommand(program, { stdout: silent, stderr: silent });
  await expect(program.parseAsync(['sync', ...line.split(' ')], { from: 'user' })).rejects.toThrow(message);
}

describe('the destinations of sync', () => {
  test.each(destinations.map((kind) => [kind.form, kind] as const))(
    '%s: its form and its examples are its own, and what the examples use is an option of it',
    (form, kind) => {
      const lines = [`--to ${form}`, ...kind.examples].map((line) => line.replace(/ \|.*|'/g, '').split(' '));
      const names = optionsOf(kind).map(({ flags }) => flags.split(' ')[0]);
      for (const [first, to = '', ...others] of lines) {
        expect([first, destinations.filter(({ pattern }) => pattern.test(to))]).toEqual(['--to', [kind]]);
        expect(names).toEqual(expect.arrayContaining(others.filter((word) => word.startsWith('--'))));
      }
    },
  );

  test('an option of several destinations is described once', () => {
    const described = new Map(destinations.flatMap(optionsOf).map((option) => [option.flags, option]));
    for (const option of destinations.flatMap(optionsOf)) expect(described.get(option.flags)).toBe(option);
    const names = [...described.keys()].map((flags) => flags.split(' ')[0]);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a command of a copy', () => {
  test.each([
    ['--to dir:/var/exports --table subscriptions', '--table', 'sqlite:FILE or postgres://USER@HOST/DATABASE'],
    ['--to sqlite:copy.db --format csv', '--format', 'dir:PATH or rclone:REMOTE:PATH'],
    ['--to sqlite:copy.db --expiring 7d', '--expiring', 'webhook:URL'],
    ['status --to sqlite:copy.db --format csv.gz', '--format', 'dir:PATH or rclone:REMOTE:PATH'],
  ])('refuses an option of another destination: %s', (line, option, forms) =>
    expectRefused(line, `Cannot use ${option}: --to must be ${forms}: current value is `),
  );

  test.each([
    ['verify --to webhook:https://example.com/secret', 'webhook:…'],
    ['verify --to stdout:ndjson', 'stdout:…'],
    ['status --to stdout:ndjson', 'stdout:…'],
    ['--to ftp://user:secret@example.com/exports', 'ftp://…'],
    ['--to sqlite:', 'sqlite:'],
  ])('refuses a destination that it cannot use, and names those that it can: %s', (line, shown) =>
    expectRefused(line, `, such as sqlite:copy.db: current value is '${shown}'`),
  );
});
