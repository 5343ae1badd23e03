import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isUnpinnedSftp, RcloneFiles } from './rclone-files.ts';

test('the host keys of a remote whose name has a hyphen may be in the environment', () => {
  const environment = { RCLONE_CONFIG_MY_HOST_TYPE: 'sftp' };
  expect(isUnpinnedSftp('my-host:reports', {}, environment)).toBe(true);
  const pinned = { ...environment, RCLONE_CONFIG_MY_HOST_KNOWN_HOSTS_FILE: '/etc/ssh/ssh_known_hosts' };
  expect(isUnpinnedSftp('my-host:reports', {}, pinned)).toBe(false);
});

test.skipIf(spawnSync('rclone', ['version']).error)('a file that another run has removed is gone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-rclone-'));
  const files = await RcloneFiles.open(`:local:${folder}`, { environment: process.env });
  expect(await files.removeWithFolder('2026/report.csv')).toBe(true);
  rmSync(folder, { recursive: true });
});
