import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../../../test/support/eventually.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { openFiles } from '../../sync/destinations.ts';
import type { Manifest } from '../../sync/files/manifest.ts';
import { verifyFiles } from '../../sync/files/verify-files.ts';
import { type S3Policy, type S3Server, startS3Server } from './s3-server.ts';

/** A place for files: the value of `--to`, and the environment that it needs. */
export interface Place {
  readonly to: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Where the receiver keeps it. */
  readonly folder: string;
}

const longRows = (length: number) =>
  Array.from({ length }, (_, n) => {
    const row = subscriptionRow({ id: `id_${n}`, createdDate: 1_600_000_000 + n });
    return { ...row, record: row.record.replace('Europe 1 GB', 'Europe '.repeat(300)) };
  });

/** NDJSON of 6 MB in few records: two parts of S3, and more than a small disk has. */
export const largeRows = longRows(2_500);
/** NDJSON of 0.7 MB: too much for rclone to hold it back until the end. */
export const mediumRows = longRows(300);

/** A server of files, with places below its folder. */
export interface FileServer {
  /** Creates an empty place. */
  placeOf(name: string): Place;
  stop(): unknown;
}

/** Whether rclone and Debian's openssh-server are here. In continuous integration, they must be. */
export function hasReceivers(): boolean {
  const missing = [
    ...(spawnSync('rclone', ['version']).status === 0 ? [] : ['rclone']),
    ...(existsSync(sshd) ? [] : ['openssh-server']),
  ];
  if (missing.length === 0) return true;
  const message = `rclone: as a destination is not tested without ${missing.join(' and ')}`;
  if (process.env.CI !== undefined) throw new Error(`Cannot run the tests: ${message}`);
  process.stdout.write(`SKIPPED: ${message}\n`);
  return false;
}

/**
 * The variables of a remote of rclone, which gives up soon. Without garbage collection, a process
 * of it takes a fifth less CPU time.
 */
function remoteVariables(name: string, settings: Readonly<Record<string, string>>): Record<string, string> {
  const variables = Object.entries(settings).map(([key, value]) => [`RCLONE_CONFIG_${name}_${key}`, value]);
  const soon = { RCLONE_CONFIG: '/dev/null', RCLONE_RETRIES: '1', RCLONE_LOW_LEVEL_RETRIES: '1', GOGC: 'off' };
  return { ...soon, ...Object.fromEntries(variables) };
}

/** Folders of this machine as a remote of rclone. */
export function localServer(folder: string): FileServer {
  return {
    placeOf(name) {
      mkdirSync(join(folder, name), { recursive: true });
      const environment = remoteVariables('DISK', { TYPE: 'local' });
      return { to: `rclone:disk:${join(folder, name)}`, environment, folder: join(folder, name) };
    },
    stop: () => undefined,
  };
}

/** Starts an S3 with a bucket, and a policy that may refuse requests. */
export async function startS3(
  folder: string,
  policy: S3Policy = () => undefined,
): Promise<FileServer & Omit<S3Server, 'stop'>> {
  mkdirSync(join(folder, 'exports'), { recursive: true });
  const s3 = await startS3Server(folder, policy);
  const environment = remoteVariables('S3', {
    ...{ TYPE: 's3', PROVIDER: 'Other', ENDPOINT: s3.url, REGION: 'eu-central-1' },
    ...{ ACCESS_KEY_ID: 'test', SECRET_ACCESS_KEY: 'test' },
  });
  return {
    ...s3,
    placeOf(name) {
      mkdirSync(join(folder, 'exports', name), { recursive: true });
      return { to: `rclone:s3:exports/${name}`, environment, folder: join(folder, 'exports', name) };
    },
  };
}

const sshd = '/usr/sbin/sshd';

/** Starts Debian's sshd with a host key, a user key and a configuration of its own. */
export async function startSshd(
  folder: string,
  subsystem = 'internal-sftp',
): Promise<FileServer & { readonly port: number; readonly knownHosts: string }> {
  mkdirSync(join(folder, 'places'), { recursive: true });
  mkdirSync('/run/sshd', { recursive: true });
  for (const name of ['host', 'user'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  const port = await freePort();
  writeFileSync(
    join(folder, 'config'),
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${join(folder, 'host')}
AuthorizedKeysFile ${join(folder, 'user.pub')}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
Subsystem sftp ${subsystem}
`,
  );
  const child = spawn(sshd, ['-D', '-e', '-f', join(folder, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text) => {
    log = (log + text).slice(-100_000);
  });
  await eventually(async () => {
    if (!log.includes('Server listening')) throw new Error(`sshd does not listen: ${log}`);
  });
  const knownHosts = join(folder, 'known_hosts');
  writeFileSync(knownHosts, `[127.0.0.1]:${port} ${readFileSync(join(folder, 'host.pub'), 'utf8')}`);
  return {
    port,
    knownHosts,
    placeOf(name) {
      const place = join(folder, 'places', name);
      mkdirSync(place);
      const environment = remoteVariables('SFTP', {
        ...{ TYPE: 'sftp', HOST: '127.0.0.1', PORT: String(port), USER: userInfo().username },
        ...{ KEY_FILE: join(folder, 'user'), KNOWN_HOSTS_FILE: knownHosts },
        // what rclone finds by three remote commands and saves in its configuration
        ...{ SHELL_TYPE: 'unix', MD5SUM_COMMAND: 'md5sum', SHA1SUM_COMMAND: 'sha1sum' },
      });
      return { to: `rclone:sftp:${place}`, environment, folder: place };
    },
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** The names of the files of a place, as its receiver has them. */
export const namesAt = ({ folder }: Place): string[] =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();

/**
 * The newest file of a place, and whether it is that of its manifest, as the receiver has them: to
 * read them through rclone takes half a second of CPU time.
 */
export async function verifyNewest(place: Place): Promise<{ readonly manifest: Manifest; readonly isEqual: boolean }> {
  const [newest] = (await verifyFiles(await openFiles({ to: `dir:${place.folder}` }, {}), {})).files;
  if (newest === undefined) throw new Error('there is no file');
  return { manifest: newest.manifest, isEqual: newest.faultCount === 0 };
}
