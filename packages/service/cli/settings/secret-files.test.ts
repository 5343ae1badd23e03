import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readSecretFiles } from '../../../terminal/secret-files.ts';
import { readConfig, settings, showConfig } from '../config.ts';
import type { Setting } from './setting.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

let written = 0;

/** The path of a new file with the content. */
function fileWith(content: string): string {
  const path = join(folder, `secret-${++written}`);
  writeFileSync(path, content);
  return path;
}

const databaseUrl = 'postgres://subreport:hidden@db.example.com/subreport';
const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString('base64');

/** The default of a setting, the example of its rule, or a key. */
function validValue({ read, fallback, rule }: Setting<unknown>): string {
  const examples = [fallback, /(?:such as|one of) ([^\s,]+(?:,\S+)?)/.exec(rule)?.[1], key];
  const right = examples.map((each) => String(each ?? ''));
  return right.find((each) => each !== '' && read(each) !== undefined) ?? expect.unreachable(`example of: ${rule}`);
}

const all = Object.entries<Setting<unknown>>(settings);

describe('a secret in a file', () => {
  test.each(all.filter(([, setting]) => 'secret' in setting))(
    'is the value of %s, without the last line break',
    (name, setting) => {
      const value = validValue(setting);
      for (const end of ['', '\n', '\r\n'])
        expect(readSecretFiles([name], { [`${name}_FILE`]: fileWith(value + end) }).values).toEqual({ [name]: value });
    },
  );

  test('is masked and has the origin file in the output of config', () => {
    const environment = { DATABASE_URL_FILE: fileWith(`${databaseUrl}\n`) };
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
    expect(() => readConfig({ DATABASE_URL: databaseUrl, DATABASE_URL_FILE })).toThrow(
      `Cannot use DATABASE_URL_FILE: it must not be set together with DATABASE_URL: current value is '${DATABASE_URL_FILE}'`,
    );
    expect(readConfig({ DATABASE_URL: '', DATABASE_URL_FILE }).DATABASE_URL).toBe('postgres://db/other');
    expect(readConfig({ DATABASE_URL: databaseUrl, DATABASE_URL_FILE: '' })).toMatchObject(
      readConfig({ DATABASE_URL: databaseUrl }),
    );
  });

  test('is rejected if the file is empty, so that keys are not stored unencrypted by mistake', () => {
    for (const content of ['', '\n']) {
      expect(() => readConfig({ KEY_ENCRYPTION_SECRET_FILE: fileWith(content) })).toThrow(
        'Cannot use KEY_ENCRYPTION_SECRET_FILE: its content must not be empty',
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

describe('blanks, quotation marks and hidden characters that a value does not mean', () => {
  const hidden = ['\r', '\n', '\r\n', '\t', '\0', '\u0085', '\u2028', '\ufeff', '\u200b', '\u202e'];
  const blanks = [...hidden, ' ', '\u00a0'];
  const marks = [...blanks, '"', "'", '\u201c'];

  test.each(all)('are refused by the name of %s', (name, setting) => {
    const value = validValue(setting);
    const half = Math.ceil(value.length / 2);
    const within = hidden.map((each) => value.slice(0, half) + each + value.slice(half));
    const around = marks.map((each) => each + value + each);
    for (const bad of [...around, ...within, ...blanks.flatMap((each) => [each + value, value + each])]) {
      const refused = new RegExp(`^Cannot use ${name}(_FILE)?: (it|its content) must have no .* found U\\+`, 'm');
      expect(() => readConfig({ [name]: bad })).toThrow(refused);
      if (!('secret' in setting)) continue;
      expect(() => readConfig({ [name]: bad })).not.toThrow(value);
      const path = fileWith(`${bad}\n`);
      // the line break of a file may be that of Windows
      if (bad !== `${value}\r`) expect(() => readConfig({ [`${name}_FILE`]: path })).toThrow(refused);
      expect(() => readConfig({ [`${name}_FILE`]: bad.replace(value, path) })).toThrow(refused);
    }
  });
});
