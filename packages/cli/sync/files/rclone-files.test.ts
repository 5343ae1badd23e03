import { expect, test } from 'vitest';
import { isUnpinnedSftp } from './rclone-files.ts';

test('the host keys of a remote whose name has a hyphen may be in the environment', () => {
  const environment = { RCLONE_CONFIG_MY_HOST_TYPE: 'sftp' };
  expect(isUnpinnedSftp('my-host:reports', {}, environment)).toBe(true);
  const pinned = { ...environment, RCLONE_CONFIG_MY_HOST_KNOWN_HOSTS_FILE: '/etc/ssh/ssh_known_hosts' };
  expect(isUnpinnedSftp('my-host:reports', {}, pinned)).toBe(false);
});
