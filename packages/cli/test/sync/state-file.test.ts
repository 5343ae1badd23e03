import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StateFile, type StateKind } from '../../sync/source/state-file.ts';
import { WebhookState } from '../../sync/webhook/webhook-state.ts';

const kind: StateKind = {
  applicationId: 7,
  schema: 'create table place (token text) strict;',
  cannot: 'Cannot use',
  writers: 'of this test',
};
const tokensOf = (state: StateFile) => state.all('select token from place');

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-state-'));
  file = join(folder, 'state.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a value in a run of its own. */
async function write(token: string): Promise<void> {
  const state = StateFile.open(file, kind);
  await state.transact(() => state.all('insert into place values (?)', token));
  state.close();
}

describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)('a disk that is full within a run', () => {
  const named = 'its disk must have room, and no fault: database or disk is full';
  const events = Array.from({ length: 99 }, (_, n) => ({ id: `${n}`.repeat(40_000), data: '', createdAt: 1 }));
  const [source, place] = [{ service: 'https://a.example', clientId: 'acme' }, 'https://b.example'];

  beforeEach(() => {
    mkdirSync(join(folder, 'small'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'subreport-test', join(folder, 'small')]);
    file = join(folder, 'small/state.db');
  });
  afterEach(() => execFileSync('umount', ['--lazy', join(folder, 'small')]));

  test('is named by a webhook', async () => {
    const state = WebhookState.open(file);
    await state.transact(() => state.takePlace({ url: place, ...source, token: 'a', revision: 1 }));
    const fill = state.transact(() => events.forEach((event) => void state.addChanges(event)));
    const message = `Cannot use '${file}': ${named}`;
    await expect(fill).rejects.toMatchObject({ code: 'DESTINATION_FAILED', message, cause: { errcode: 13 } });
    expect(state.hasPendingChanges()).toBe(false);
    state.close();
  });
});

describe('a state file', () => {
  test('has what was committed, in a new folder that only its user can read', async () => {
    file = join(folder, 'new', 'state.db');
    await write('a');
    const state = StateFile.open(file, kind);
    const interrupted = state.transact(() => {
      state.all("insert into place values ('b')");
      throw new Error('interrupted');
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    expect(tokensOf(state)).toEqual([{ token: 'a' }]);
    // survives a power failure, and can be read beside a run
    const [durability, journal] = ['synchronous', 'journal_mode'].map((name) => state.all(`pragma ${name}`)[0]);
    expect([durability, journal]).toEqual([{ synchronous: 2 }, { journal_mode: 'wal' }]);
    state.close();
    expect([statSync(file).mode & 0o777, statSync(join(folder, 'new')).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test('is written by one process at a time, also by another name, and read by others meanwhile', async () => {
    await write('a');
    const state = StateFile.open(file, kind);
    const other = join(folder, 'other.db');
    symlinkSync(file, other);
    for (const name of [file, other])
      expect(() => StateFile.open(name, kind)).toThrow(expect.objectContaining({ code: 'DESTINATION_BUSY' }));
    const read = await state.transact(async () => {
      state.all("insert into place values ('b')");
      return StateFile.read(file, kind, tokensOf);
    });
    expect(read).toEqual([{ token: 'a' }]);
    state.close();
    expect(StateFile.read(other, kind, tokensOf)).toEqual([{ token: 'a' }, { token: 'b' }]);
    expect(readdirSync(folder).sort()).toEqual(['other.db', 'state.db', 'state.db-lock']);
    StateFile.open(file, kind).close();
  });

  test('that does not exist, or that no run has written, is not created by a reader', () => {
    expect(StateFile.read(file, kind, tokensOf)).toBeUndefined();
    writeFileSync(file, '');
    expect(StateFile.read(file, kind, tokensOf)).toBeUndefined();
    expect(statSync(file).size).toBe(0);
  });

  test.each<[string, () => void]>([
    ['a copy of a report', () => new DatabaseSync(file).exec('create table subscriptions (id text)')],
    ['the state of another kind', () => StateFile.open(file, { ...kind, applicationId: 8 }).close()],
    [
      'the state of a later version',
      () => {
        StateFile.open(file, kind).close();
        const later = new DatabaseSync(file);
        later.exec('pragma user_version = 2');
        later.close();
      },
    ],
    ['no database', () => writeFileSync(file, 'else'.repeat(500))],
    ['a folder', () => mkdirSync(file)],
  ])('is refused if it is %s, and stays as it is', (_what, make) => {
    make();
    const before = statSync(file).isFile() && readFileSync(file).toString('hex');
    const refused = expect.objectContaining({
      code: 'DESTINATION_INVALID',
      message: expect.stringMatching(/it must be a state file that a sync of this test wrote, or not exist|EISDIR/),
    });
    expect(() => StateFile.open(file, kind)).toThrow(refused);
    expect(() => StateFile.read(file, kind, tokensOf)).toThrow(refused);
    expect(statSync(file).isFile() && readFileSync(file).toString('hex')).toBe(before);
    expect(readdirSync(folder).filter((name) => !name.startsWith('state.db-lock'))).toEqual(['state.db']);
  });
});
