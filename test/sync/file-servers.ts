import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { eventually } from '../support/eventually.ts';

/** A place for files, as a command is told of it. */
export interface Place {
  readonly to: string;
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A server of files, with places below its folder. */
interface FileServer {
  /** Creates an empty place. */
  placeOf(name: string): Place;
  stop(): Promise<void>;
}

/** Starts an S3 that accepts every signature. */
export async function startS3(folder: string): Promise<FileServer & { readonly url: string }> {
  const s3 = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory: folder },
    configureBuckets: [{ name: 'exports', configs: [] }],
  });
  const { port } = await s3.run();
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    placeOf: (name) => ({
      to: `s3://exports/${name}`,
      options: [],
      environment: { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER', AWS_ENDPOINT_URL: url },
    }),
    stop: () => s3.close(),
  };
}

const sshd = '/usr/sbin/sshd';

/** Whether Debian's openssh-server is here. In continuous integration, it must be. */
export function hasSshd(): boolean {
  if (existsSync(sshd)) return true;
  if (process.env.CI !== undefined) throw new Error('Cannot test SFTP: openssh-server must be installed');
  process.stdout.write('SKIPPED: SFTP is not tested without openssh-server\n');
  return false;
}

/** Starts Debian's sshd with a host key, a user key and a configuration of its own. */
export async function startSshd(
  folder: string,
): Promise<FileServer & { readonly fingerprint: string; readonly port: number }> {
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
Subsystem sftp internal-sftp
`,
  );
  const child = spawn(sshd, ['-D', '-e', '-f', join(folder, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text) => {
    log += text;
  });
  await eventually(async () => {
    if (!log.includes('Server listening')) throw new Error(`sshd does not listen: ${log}`);
  });
  const [fingerprint = ''] =
    /SHA256:\S+/.exec(execFileSync('ssh-keygen', ['-lf', join(folder, 'host.pub')], { encoding: 'utf8' })) ?? [];
  return {
    port,
    fingerprint,
    placeOf(name) {
      mkdirSync(join(folder, 'places', name));
      return {
        to: `sftp://${userInfo().username}@127.0.0.1:${port}${join(folder, 'places', name)}`,
        options: ['--host-key', fingerprint, '--secret-file', join(folder, 'user')],
        environment: {},
      };
    },
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** The line of known_hosts for a server of `startSshd`. */
export const knownHost = (folder: string, port: number): string =>
  `[127.0.0.1]:${port} ${readFileSync(join(folder, 'host.pub'), 'utf8')}`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
