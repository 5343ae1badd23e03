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
import { NdjsonOutput } from '../../sync/ndjson-output.ts';
import { StateFile, type StateKind } from '../../sync/state-file.ts';
import { WebhookState } from '../../sync/webhook-state.ts';

const kind: StateKind = { applicationId: 7, migrations: ['create table place (token text) strict;'] };
const tokensOf = (state: StateFile) => state.all('select token from place');

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-state-'));
  file = join(folder, 'state.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a value in a run of its own. */
function write(token: string): void {
  const state = StateFile.open(file, kind);
  state.transact(() => state.all('insert into place values (?)', token));
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
    await expect(fill).rejects.toMatchObject({ code: 'DESTINATION_FAILED', message, cause: { code: 'DISK' } });
    expect(state.hasPendingChanges()).toBe(false);
    state.close();
  });

  test('is named by a stream', async () => {
    const output = new NdjsonOutput(async () => undefined, file);
    const position = { token: 'a'.repeat(3_000_000), revision: 1, isTimed: true };
    await output.begin({ ...source } as never);
    const message = `Cannot continue from '${file}': ${named}`;
    await expect(output.commit(position as never)).rejects.toMatchObject({ code: 'DESTINATION_FAILED', message });
    await output.close();
  });
});

describe('a state file', () => {
  test('has what was committed, in a new folder that only its user can read', () => {
    file = join(folder, 'new', 'state.db');
    write('a');
    const state = StateFile.open(file, kind);
    expect(() =>
      state.transact(() => {
        state.all("insert into place values ('b')");
        throw new Error('interrupted');
      }),
    ).toThrow('interrupted');
    expect(tokensOf(state)).toEqual([{ token: 'a' }]);
    // survives a power failure, and can be read beside a run
    const [durability, journal] = ['synchronous', 'journal_mode'].map((name) => state.all(`pragma ${name}`)[0]);
    expect([durability, journal]).toEqual([{ synchronous: 2 }, { journal_mode: 'wal' }]);
    state.close();
    expect([statSync(file).mode & 0o777, statSync(join(folder, 'new')).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test('is written by one process at a time, also by another name, and read by others meanwhile', async () => {
    write('a');
    const state = StateFile.open(file, kind);
    const other = join(folder, 'other.db');
    symlinkSync(file, other);
    for (const name of [file, other])
      expect(() => StateFile.open(name, kind)).toThrow(expect.objectContaining({ code: 'BUSY' }));
    const read = await state.transactSlowly(async () => {
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
      () => StateFile.open(file, { ...kind, migrations: [...kind.migrations, ''] }).close(),
    ],
    ['no database', () => writeFileSync(file, 'else'.repeat(500))],
    ['a folder', () => mkdirSync(file)],
  ])('is refused if it is %s, and stays as it is', (_what, make) => {
    make();
    const before = statSync(file).isFile() && readFileSync(file).toString('hex');
    expect(() => StateFile.open(file, kind)).toThrow(expect.objectContaining({ code: 'UNUSABLE' }));
    expect(() => StateFile.read(file, kind, tokensOf)).toThrow(expect.objectContaining({ code: 'UNUSABLE' }));
    expect(statSync(file).isFile() && readFileSync(file).toString('hex')).toBe(before);
    expect(readdirSync(folder).filter((name) => !name.startsWith('state.db-lock'))).toEqual(['state.db']);
  });

  test('of an earlier version is migrated by the next run, and keeps its rows', () => {
    write('a');
    const next = { ...kind, migrations: [...kind.migrations, 'alter table place add column at integer;'] };
    expect(StateFile.read(file, next, tokensOf)).toBeUndefined();
    const state = StateFile.open(file, next);
    expect(state.all('select * from place')).toEqual([{ token: 'a', at: null }]);
    state.close();
    expect(() => StateFile.open(file, kind)).toThrow('a later version');
  });

  test('whose migration fails stays at its version', () => {
    write('a');
    const next = { ...kind, migrations: [...kind.migrations, 'drop table place; select no_such_function();'] };
    expect(() => StateFile.open(file, next)).toThrow(expect.objectContaining({ code: 'UNUSABLE' }));
    expect(StateFile.read(file, kind, tokensOf)).toEqual([{ token: 'a' }]);
  });
});
