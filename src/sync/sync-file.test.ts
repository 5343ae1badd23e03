import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { flagsOf, readSyncFile, timeoutMsOf } from './sync-file.ts';

let file: string;
beforeAll(() => {
  file = join(mkdtempSync(join(tmpdir(), 'subreport-sync-file-')), 'sync.yaml');
});
afterAll(() => rmSync(join(file, '..'), { recursive: true }));

const read = (text: string) => {
  writeFileSync(file, text);
  return readSyncFile(file);
};
const mistakesOf = (text: string): string[] => {
  try {
    read(text);
  } catch (error) {
    return (error as Error).message.split('\n');
  }
  return [];
};

test('a file is read with the flags and the schedule of each entry', () => {
  const { entries, state, metrics } = read(`# yaml-language-server: $schema=sync.schema.json
zone: Europe/Berlin
state: /var/lib/sync
metrics: /var/lib/sync.prom
entries:
  - name: warehouse
    profile: acme
    to: postgres://reports@db.example.com/warehouse
    table: mobile.subscriptions
    schedule: '30 2 * * *'
  - { name: files, to: 'dir:exports', format: parquet, schedule: '0 0 * * *', zone: UTC }
  - { name: there, to: 'sftp://a@example.com/x', known-hosts: known_hosts, secret-file: id_ed25519 }
  - { name: hook, to: 'webhook:https://example.com/hook', secret-file: secret }
`);
  expect([state, metrics]).toEqual(['/var/lib/sync', '/var/lib/sync.prom']);
  expect(entries.map((entry) => flagsOf(entry, '/state').join(' '))).toEqual([
    '--profile acme --to postgres://reports@db.example.com/warehouse --table mobile.subscriptions',
    '--to dir:exports --format parquet',
    '--to sftp://a@example.com/x --secret-file id_ed25519 --known-hosts known_hosts',
    '--to webhook:https://example.com/hook --state /state/hook.webhook.db --secret-file secret',
  ]);
  const after = new Date('2027-01-01T00:00:00Z');
  expect(entries.map(({ schedule }) => schedule?.next(after).toISOString())).toEqual([
    '2027-01-01T01:30:00.000Z',
    '2027-01-02T00:00:00.000Z',
    ...[undefined, undefined],
  ]);
});

test('a run may take its timeout, or 12 hours', () => {
  const of = (timeout: string) => timeoutMsOf({ timeout }) / 1_000;
  expect([timeoutMsOf({}) / 1_000, of('90s'), of('2m'), of('3h')]).toEqual([43_200, 90, 120, 10_800]);
  expect(of('999h')).toBe((2 ** 31 - 1) / 1_000); // a longer timer would end at once
});

test('every mistake is named at once, with its line, its entry, the rule and a right example', () => {
  const lines = mistakesOf(`entries:
  - name: Warehouse
    to: mysql://db/x
    tables: x
  - name: b
    to: postgres://root:hidden@db/x
    table: Sub"s
    schedule: '61 2 * * *'
    password: hidden
  - name: b
    to: sqlite:b.db
    format: pdf
    zone: Europe/Atlantis
    timeout: forever
  - just text
  - to: sqlite:c.db
    schedule: 5
colour: red
`);
  const has = (line: number, of: string, rule: string) =>
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^sync\\.yaml:${line}: ${of}.*${rule}`)));
  has(2, "entry 'Warehouse': Cannot use name: it must be 1 to 64 lower-case", 'such as name: warehouse');
  has(3, "entry 'Warehouse': Cannot use to: it must be sqlite:FILE", 'such as to: postgres://reports@');
  has(4, "entry 'Warehouse': Cannot use the key 'tables': it must be one of", "did you mean 'table'\\?");
  has(6, "entry 'b': Cannot use to: a secret must not be in this file", 'env-file');
  has(7, "entry 'b': Cannot use table", 'such as table: mobile.subscriptions');
  has(8, "entry 'b': Cannot use schedule", 'such as schedule: \'30 2 .*: current value is "61 2');
  has(9, "entry 'b': Cannot use the key 'password': a secret must not be in this file", '');
  has(10, "entry 'b': Cannot use name", 'of no other entry');
  has(12, "entry 'b': Cannot use format: it must be csv", 'parquet');
  has(13, "entry 'b': Cannot use zone: it must be an IANA time zone", 'Europe/Berlin');
  has(14, "entry 'b': Cannot use timeout: it must be 1 to 999 seconds, minutes or hours", 'such as timeout: 2h');
  has(15, 'Cannot use an entry', '- name');
  has(16, 'entry 5: Cannot use the entry: it must have name', 'name: warehouse');
  has(17, 'entry 5: Cannot use schedule', 'current value is 5');
  has(18, "Cannot use the key 'colour'", 'entries, zone, state, metrics');
  expect(lines).toHaveLength(15);
  expect(lines.join('\n')).not.toContain('hidden');
});

test.each([
  ['', 'Cannot use the file: it must have a list'],
  ['[]', 'Cannot use the file: it must have a list'],
  ['entries: []', 'Cannot use entries: it must be a list of 1 to 100 entries'],
  ['entries:\n  - name: a\n   to: b', 'Cannot read the YAML'],
  ['entries: &a [*a]', 'Cannot'],
  ['entries: [*b]', 'Cannot read the YAML'],
  [`a: &a [${'1,'.repeat(99)}]\nentries: [${'*a,'.repeat(99)}]`, 'Cannot'],
])('%j is refused', (text, message) => {
  const [first = ''] = mistakesOf(text);
  expect(first).toMatch(/^sync\.yaml:\d+: /);
  expect(first).toContain(message);
});

test('a file that is too large is not parsed', () => {
  expect(mistakesOf(`entries: []\n#${'x'.repeat(262_144)}`)).toEqual([
    expect.stringMatching(/^Cannot use '.*sync.yaml': it must have at most 262,144 bytes/),
  ]);
});
