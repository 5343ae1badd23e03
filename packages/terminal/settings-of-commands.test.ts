import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { driverUrl } from '../outgoing/database.ts';
import { isServiceGiven } from './connection.ts';
import { commandVariables, readVariable } from './environment.ts';
import { writePrivateFile } from './profile.ts';
import { readSecretFiles } from './secret-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-settings-'));
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  for (const name of ['URL', 'CLIENT_ID', 'CLIENT_SECRET', 'PROFILE']) vi.stubEnv(`SUBREPORT_${name}`, '');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test('a service is given by an option, by a variable, or by a default profile', () => {
  expect(isServiceGiven({})).toBe(false);
  expect(isServiceGiven({ profile: 'other' })).toBe(true);
  vi.stubEnv('SUBREPORT_PROFILE', 'other');
  expect(isServiceGiven({})).toBe(true);
  vi.stubEnv('SUBREPORT_PROFILE', '');
  mkdirSync(join(folder, 'subreport/profiles'), { recursive: true });
  writeFileSync(join(folder, 'subreport/profiles/default.json'), '{}');
  expect(isServiceGiven({})).toBe(true);
});

test.each(commandVariables)('%s is refused with a carriage return of an env file of Windows', (name) => {
  vi.stubEnv(name, 'value\r');
  expect(() => readVariable(name)).toThrow(new RegExp(`^Cannot use ${name}: it must have no .* found U\\+000D`));
});

test('a private file closes a folder that others could open', () => {
  const open = join(folder, 'open');
  mkdirSync(open);
  chmodSync(open, 0o755);
  writePrivateFile(join(open, 'file'), 'x');
  expect([statSync(open).mode & 0o777, statSync(join(open, 'file')).mode & 0o777]).toEqual([0o700, 0o600]);
});

test('a secret is not taken from a file if its variable is set too', () => {
  writeFileSync(join(folder, 'secret'), 'of the file\n');
  const file = { TOKEN_FILE: join(folder, 'secret') };
  expect(readSecretFiles(['TOKEN'], file)).toEqual({ values: { TOKEN: 'of the file' }, faults: [] });
  const { values, faults } = readSecretFiles(['TOKEN'], { ...file, TOKEN: 'of the variable' });
  expect([values, faults]).toEqual([{}, [expect.stringContaining('it must not be set together with TOKEN')]]);
});

test.each(['prefer', 'require', 'verify-ca'])('sslmode=%s is verified wherever it is in the URL', (mode) => {
  for (const [before, after] of [
    ['?', ''],
    ['?application_name=a&', ''],
    ['?', '&application_name=a'],
  ])
    expect(driverUrl(`postgres://h/d${before}sslmode=${mode}${after}`)).toBe(
      `postgres://h/d${before}sslmode=verify-full${after}`,
    );
});
