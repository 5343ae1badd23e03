import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import S3rver, { type Context } from 's3rver';
import ssh2 from 'ssh2';
import type { FileStore } from '../../src/sync/file-store.ts';
import { openFiles, type PlaceOptions } from '../../src/sync/open-destination.ts';
import { freePort } from '../../tools/free-port.ts';
import { eventually, startMsMax } from '../support/eventually.ts';

/** A place for files, as a command is told of it. */
export interface Place {
  readonly to: string;
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where the receiver keeps it. */
  readonly folder: string;
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
  s3.middleware.unshift(completeS3(folder));
  const { port } = await s3.run();
  const url = `http://127.0.0.1:${port}`;
  return { url, placeOf: (name) => s3Place(url, folder, name), stop: () => s3.close() };
}

export const s3Place = (url: string, folder: string, name: string): Place => ({
  to: `s3://exports/${name}`,
  options: [],
  environment: { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER', AWS_ENDPOINT_URL: url },
  folder: join(folder, 'exports', name),
});

/** Where s3rver keeps the parts of uploads. */
export const uploadsOf = (folder: string): string => join(folder, 'exports', '._S3rver_uploads');

/**
 * What s3rver lacks, as in the reference of the API of S3: ListMultipartUploads,
 * AbortMultipartUpload, NoSuchUpload, and conditional writes.
 */
function completeS3(root: string): S3rver['middleware'][number] {
  const folder = uploadsOf(root);
  const respond = (context: Context, status: number, text: string): void => {
    Object.assign(context, { status, type: 'application/xml', body: text });
  };
  return async (context, next) => {
    const { uploads, uploadId, prefix = '' } = context.query;
    const known = existsSync(folder) ? readdirSync(folder) : [];
    if (context.method === 'GET' && uploads !== undefined) {
      const entries = known
        .map((id) => ({ id, key: readFileSync(join(folder, id, 'key'), 'utf8') }))
        .filter(({ key }) => key.startsWith(prefix))
        .map(({ id, key }) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
      return respond(context, 200, `<ListMultipartUploadsResult>${entries.join('')}</ListMultipartUploadsResult>`);
    }
    if (context.get('if-none-match') === '*' && existsSync(`${join(root, context.path)}._S3rver_object`))
      return respond(context, 412, '<Error><Code>PreconditionFailed</Code></Error>');
    if (uploadId !== undefined && !known.includes(uploadId))
      return respond(context, 404, '<Error><Code>NoSuchUpload</Code></Error>');
    if (context.method !== 'DELETE' || uploadId === undefined) return next();
    rmSync(join(folder, uploadId), { recursive: true });
    respond(context, 204, '');
  };
}

/** Whether Python's botocore is here. In continuous integration, it must be. */
export function hasBotocore(): boolean {
  if (spawnSync('python3', ['-c', 'import botocore']).status === 0) return true;
  if (process.env.CI !== undefined) throw new Error('Cannot test signatures: python3-botocore must be installed');
  process.stdout.write('SKIPPED: signatures of S3 are not tested without python3-botocore\n');
  return false;
}

/**
 * Starts a gateway in front of an S3, in which botocore computes each signature again; its key is
 * `S3RVER` and its secret `secret`, in the region eu-central-1. `lines` has one for each request.
 */
export async function startSignatureGateway(
  target: string,
): Promise<{ readonly url: string; lines(): string[]; stop(): void }> {
  const { hostname, port } = new URL(target);
  const script = fileURLToPath(new URL('verify_signatures.py', import.meta.url));
  const child = spawn('python3', [script, hostname, port, 'S3RVER', 'secret', 'eu-central-1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (text) => {
    printed += text;
  });
  await eventually(() => {
    if (!printed.includes('\n')) throw new Error('the gateway does not listen');
  }, startMsMax);
  return {
    url: `http://127.0.0.1:${printed.split('\n')[0]}`,
    lines: () => printed.trim().split('\n').slice(1),
    stop: () => void child.kill(),
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
  subsystem = 'internal-sftp',
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
Subsystem sftp ${subsystem}
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
      const place = join(folder, 'places', name);
      mkdirSync(place);
      return {
        to: `sftp://${userInfo().username}@127.0.0.1:${port}${place}`,
        options: ['--host-key', fingerprint, '--secret-file', join(folder, 'user')],
        environment: {},
        folder: place,
      };
    },
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** Starts an SSH server with a password: OpenSSH's sshd checks only those of system users. */
export async function startPasswordServer(
  password: string,
): Promise<{ readonly fingerprint: string; readonly port: number; stop(): void }> {
  const { private: hostKey, public: publicKey } = generateHostKey();
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (context) => {
      if (context.method === 'password' && context.password === password) context.accept();
      else context.reject(['password']);
    });
    client.on('session', (accept) => {
      (accept() as NodeJS.EventEmitter).on('subsystem', (acceptChannel: () => NodeJS.ReadWriteStream) => {
        const channel = acceptChannel();
        const files = spawn('/usr/lib/openssh/sftp-server', { stdio: ['pipe', 'pipe', 'ignore'] });
        channel.pipe(files.stdin);
        files.stdout.pipe(channel);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const key = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64');
  return {
    port: (server.address() as AddressInfo).port,
    fingerprint: `SHA256:${createHash('sha256').update(key).digest('base64').replace('=', '')}`,
    stop: () => server.close(),
  };
}

/** One of some 300 keys that ssh2 makes is one that it cannot read. */
function generateHostKey(): { readonly private: string; readonly public: string } {
  const pair = ssh2.utils.generateKeyPairSync('ed25519');
  return ssh2.utils.parseKey(pair.private) instanceof Error ? generateHostKey() : pair;
}

/** A proxy that closes each connection once this many bytes were sent to the server. */
export async function startCuttingProxy(
  port: number,
  bytesMax: number,
): Promise<{ readonly port: number; stop(): void }> {
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let sent = 0;
    client.on('data', (bytes) => {
      sent += bytes.length;
      if (sent > bytesMax) client.destroy();
    });
    client.pipe(upstream).pipe(client);
    client.on('error', () => undefined).on('close', () => upstream.destroy());
    upstream.on('error', () => undefined).on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, stop: () => void server.close() };
}

/** The line of known_hosts for a server of `startSshd`. */
export const knownHost = (folder: string, port: number): string =>
  `[127.0.0.1]:${port} ${readFileSync(join(folder, 'host.pub'), 'utf8')}`;

/** The remote of rclone for a place, and its configuration in the environment. */
export function rcloneRemoteOf({ to, options, environment, folder }: Place, knownHosts: string) {
  const { protocol, hostname, port, username, pathname } = new URL(to);
  if (protocol === 'dir:') return { remote: folder, variables: {} };
  const settings =
    protocol === 's3:'
      ? {
          ...{ TYPE: 's3', PROVIDER: 'Other', FORCE_PATH_STYLE: 'true', ENDPOINT: environment.AWS_ENDPOINT_URL ?? '' },
          ...{ ACCESS_KEY_ID: 'S3RVER', SECRET_ACCESS_KEY: 'S3RVER' },
        }
      : {
          ...{ TYPE: 'sftp', HOST: hostname, PORT: port, USER: username },
          ...{ KEY_FILE: options.at(-1) ?? '', KNOWN_HOSTS_FILE: knownHosts, DISABLE_HASHCHECK: 'true' },
        };
  const names = Object.entries(settings).map(([name, value]) => [`RCLONE_CONFIG_PLACE_${name}`, value]);
  const remote = protocol === 's3:' ? `place:${hostname}${pathname}` : `place:${pathname}`;
  return { remote, variables: { RCLONE_CONFIG: '/dev/null', ...Object.fromEntries(names) } };
}

/** The names of the files of a place, as its receiver has them. */
export const namesAt = ({ folder }: Place): string[] =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
    .filter((entry) => entry.isFile() && !/_S3rver_(metadata.json|object.md5)$/.test(entry.name))
    .map((entry) => entry.name.replace('._S3rver_object', ''))
    .sort();

/** Opens a place as its reader. */
export function filesOf({ to, options, environment }: Place): Promise<FileStore> {
  const secrets: Record<string, string> = {};
  for (const [at, option] of options.entries())
    if (option === '--host-key') secrets.hostKey = options[at + 1] ?? '';
    else if (option === '--secret-file') secrets.secretFile = options[at + 1] ?? '';
  return openFiles({ to, ...secrets } satisfies PlaceOptions, environment);
}
