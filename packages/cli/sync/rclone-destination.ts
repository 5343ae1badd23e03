import type { DestinationKind } from './destination-kind.ts';
import { SyncError } from './source/error.ts';

export const rcloneDestination: DestinationKind = {
  mode: 'files',
  form: 'rclone:REMOTE:PATH',
  pattern: /^(rclone:|s3:\/\/|sftp:\/\/)/,
  keeps: 'files in S3, Google Cloud Storage, Azure, SFTP or another of the stores of rclone',
  options: [
    {
      flags: '--sftp-known-hosts-file <file>',
      description: 'the host keys of SFTP servers, such as ~/.ssh/known_hosts',
    },
  ],
  note: `rclone writes to S3, Google Cloud Storage, Azure, SFTP and some seventy other stores; 'rclone config' makes a REMOTE
with their credentials.`,
  examples: [
    '--to rclone:s3:exports/subreport --format parquet',
    '--to rclone:sftp:/reports --sftp-known-hosts-file ~/.ssh/known_hosts',
  ],
  async open({ to, sftpKnownHostsFile }, environment, signal) {
    if (!to.startsWith('rclone:')) throw notOfRclone(to);
    const { RcloneFiles } = await import('./files/rclone-files.ts');
    const pinned = sftpKnownHostsFile === undefined ? {} : { RCLONE_SFTP_KNOWN_HOSTS_FILE: String(sftpKnownHostsFile) };
    return RcloneFiles.open(to.slice('rclone:'.length), { environment: { ...environment, ...pinned }, signal });
  },
};

/** The error of `s3://…` or `sftp://…`, with the same place as rclone names it. */
function notOfRclone(to: string): SyncError {
  const [, scheme = '', host = '', path = ''] = /^(\w+):\/\/(?:[^@/]*@)?([^/:?]*)[^/?]*([^?]*)/s.exec(to) ?? [];
  const place = scheme === 's3' ? `${host}${path}` : path.replace(/^\/~\//, '');
  const remote = scheme === 's3' ? 'type s3 with the region' : `type sftp for ${host}`;
  return new SyncError(
    'DESTINATION_INVALID',
    `Cannot use --to ${scheme}://…: rclone must write the files: use --to rclone:${scheme}:${place}, after 'rclone config' has made the remote ${scheme} of ${remote}`,
  );
}
