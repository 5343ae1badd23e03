import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { StateFile } from '../cli/sync/source/state-file.ts';
import { Spool } from '../service/import/spool.ts';
import { createFolders } from './create-folders.ts';
import { writeProfile } from './profile.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-folders-'));
  writeFileSync(join(folder, 'file'), '');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test('folders are created for their owner alone, once', () => {
  for (let times = 0; times < 2; times += 1) createFolders(join(folder, 'a', 'b'));
  expect(['a', 'a/b'].map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o700, 0o700]);
});

const profile = { base_url: 'http://127.0.0.1:1/connect-api', client_id: 'a', client_secret: 'b' };
const kind = { applicationId: 7, schema: '', cannot: 'Cannot use', writers: 'of this test' };
async function* source() {
  yield Buffer.from('row');
}
function writeProfileBelow(at: string): void {
  vi.stubEnv('XDG_CONFIG_HOME', at);
  writeProfile('default', profile);
}
const writers: readonly (readonly [string, (at: string) => unknown])[] = [
  ['a folder', createFolders],
  ['a profile', writeProfileBelow],
  ['a state file', (at) => StateFile.open(join(at, 'state.db'), kind)],
  ['a source that is read twice', (at) => new Spool(at, 1_000).store(source())],
];

describe.each(writers)('%s', (_what, write) => {
  test.each([
    ['/proc', () => '/proc/subreport/a'],
    ['a file', () => join(folder, 'file', 'a')],
  ])('below %s, where no folder can be created, is an error that names the path', async (_where, pathOf) => {
    const path = pathOf();
    const names = expect.stringContaining(path.replace(/\/a$/, ''));
    await expect((async () => write(path))()).rejects.toThrow(expect.objectContaining({ message: names }));
  });
});

test('no program creates folders with an option that may never end', () => {
  const sources = readdirSync('packages', { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/.test(name) && !/\.test\.ts|(^|\/)(test|node_modules)\//.test(name),
  );
  expect(sources.length).toBeGreaterThan(400);
  const found = sources.filter((name) =>
    /\bmkdir(Sync)?\([^)]*recursive/s.test(readFileSync(join('packages', name), 'utf8')),
  );
  expect(found).toEqual([]);
});
