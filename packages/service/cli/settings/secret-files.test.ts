import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig, settings, showConfig } from '../config.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

let written = 0;

/** The path of a new file with the content. */
function fileWith(content: string): string {
  const path = join(folder, `secret-${++written}`);
  writeFileSync(path, content);
  return path;
}

const values: Record<string, string> = {
  DATABASE_URL: 'postgres://subreport:hidden@db.example.com/subreport',
  KEY_ENCRYPTION_SECRET: Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString('base64'),
  KEY_ENCRYPTION_SECRET_BEFORE: 'a previous secret of at least 32 characters ',
  OIDC_CONSOLE_CLIENT_SECRET: 'secret-of-the-console',
};
/** The settings that a secret needs beside it. */
const companions: Record<string, Record<string, string>> = {
  OIDC_CONSOLE_CLIENT_SECRET: {
    OIDC_ISSUER: 'https://id.example.com/realms/acme',
    OIDC_AUDIENCE: 'https://reports.example.com',
    OIDC_CONSOLE_CLIENT_ID: 'subreport-console',
  },
};
const secretNames = Object.entries(settings).flatMap(([name, setting]) => ('secret' in setting ? [name] : []));

describe('a secret in a file', () => {
  test.each(secretNames)('is the value of %s, without the last line break', (name) => {
    for (const end of ['', '\n', '\r\n']) {
      const config = readConfig({ ...companions[name], [`${name}_FILE`]: fileWith(`${values[name]}${end}`) });
      expect(config).toMatchObject({ [name]: values[name] });
    }
  });

  test('is masked and has the origin file in the output of config', () => {
    const environment = { DATABASE_URL_FILE: fileWith(`${values.DATABASE_URL}\n`) };
    expect(showConfig(readConfig(environment), environment)).toContainEqual(
      expect.objectContaining({
        name: 'DATABASE_URL',
        value: 'postgres://subreport:***@db.example.com/subreport',
        origin: 'file',
        description: expect.stringContaining('DATABASE_URL_FILE reads it from a file'),
      }),
    );
  });

  test('is rejected without being shown if it breaks the rule of the setting', () => {
    expect(() => readConfig({ DATABASE_URL_FILE: fileWith('mysql://u:hidden@h/d') })).toThrow(
      /^(?!.*hidden)Cannot use DATABASE_URL_FILE: its content must be a URL that starts with postgres:/,
    );
  });

  test('is rejected if the setting itself is set as well', () => {
    const DATABASE_URL_FILE = fileWith('postgres://db/other');
    expect(() => readConfig({ DATABASE_URL: values.DATABASE_URL, DATABASE_URL_FILE })).toThrow(
      `Cannot use DATABASE_URL_FILE: it must not be set together with DATABASE_URL: current value is '${DATABASE_URL_FILE}'`,
    );
    expect(readConfig({ DATABASE_URL: '', DATABASE_URL_FILE }).DATABASE_URL).toBe('postgres://db/other');
    expect(readConfig({ DATABASE_URL: values.DATABASE_URL, DATABASE_URL_FILE: '' })).toMatchObject(
      readConfig({ DATABASE_URL: values.DATABASE_URL }),
    );
  });

  test('is rejected if the file is empty, so that keys are not stored unencrypted by mistake', () => {
    for (const content of ['', '\n']) {
      expect(() => readConfig({ KEY_ENCRYPTION_SECRET_FILE: fileWith(content) })).toThrow(
        'Cannot use KEY_ENCRYPTION_SECRET_FILE: it must be a file that is not empty',
      );
    }
  });

  test('that cannot be read is named, together with every other invalid setting', () => {
    const missing = join(folder, 'missing');
    expect(() => readConfig({ DATABASE_URL_FILE: missing, KEY_ENCRYPTION_SECRET_FILE: folder, PORT: 'x' })).toThrow(
      new RegExp(
        [
          `^Cannot use DATABASE_URL_FILE: .* \\(ENOENT\\): current value is '${missing}'`,
          `Cannot use KEY_ENCRYPTION_SECRET_FILE: .* \\(EISDIR\\): current value is '${folder}'`,
          'Cannot use PORT: .*$',
        ].join('\n'),
      ),
    );
  });
});
