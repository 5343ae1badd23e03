import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MirrorState } from './state.ts';

test('a removed record that comes again is not among the removed ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-mirror-state-'));
  const state = MirrorState.open(join(folder, 'state.db'));
  state.removed(['a', 'b'], '2026-11-23T03:00:00.000Z');
  expect(state.removedIds).toEqual(['a', 'b']);
  const records = [{ id: 'a' }];
  const applied = { differing: records, rejections: new Map<string, string>(), digests: new Map([['a', 'digest']]) };
  state.see(records, { walk: 1, byWalk: true }, applied);
  expect([state.removedIds, state.records]).toEqual([['b'], 1]);
  state.close();
  rmSync(folder, { recursive: true });
});
