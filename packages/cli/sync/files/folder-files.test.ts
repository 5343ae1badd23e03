import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readSmallFile } from './file-store.ts';
import { FolderFiles } from './folder-files.ts';

/** Runs `work`, and returns the paths of what it flushes, in order. Only Linux tells the paths. */
async function flushedBy(work: () => Promise<void>): Promise<readonly string[]> {
  const handle = await open('/proc/self/status');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const paths: string[] = [];
  const { sync } = prototype;
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(function (this: unknown) {
    paths.push(readlinkSync(`/proc/self/fd/${(this as { fd: number }).fd}`));
    return sync.call(this);
  });
  await work().finally(() => spy.mockRestore());
  return paths;
}

test.skipIf(process.platform !== 'linux')(
  'a file is flushed before its name, and then its folder and the place',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-folder-'));
    const files = await FolderFiles.open(folder);
    const written = await flushedBy(() => files.write('2026/report.csv', [Buffer.from('a')]));
    expect(written).toEqual([join(folder, '2026/report.csv.part'), join(folder, '2026'), folder]);
    rmSync(folder, { recursive: true });
  },
);

test('what cannot be written leaves no part beside it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-folder-'));
  const files = await FolderFiles.open(folder);
  mkdirSync(join(folder, 'report.csv'));
  await expect(files.write('report.csv', [Buffer.from('{}')])).rejects.toThrow('EISDIR');
  expect(readdirSync(folder)).toEqual(['report.csv']);
  rmSync(folder, { recursive: true });
});

test('a small file that another run has removed is empty', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-folder-'));
  expect(await readSmallFile(await FolderFiles.open(folder), '2026/manifest.json')).toBe('');
  rmSync(folder, { recursive: true });
});
