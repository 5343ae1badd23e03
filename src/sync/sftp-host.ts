import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import ssh2, { type ConnectConfig, type ServerHostKeyAlgorithm } from 'ssh2';
import { SyncError } from './error.ts';

/** Which key the server must have, and what shows who the user is. */
export interface SftpSecrets {
  /** `SHA256:…`, as `ssh-keygen -lf` prints it. */
  readonly hostKey?: string;
  /** A file as OpenSSH's; by default ~/.ssh/known_hosts. */
  readonly knownHosts?: string;
  /** File of a private key or a password. */
  readonly secretFile?: string;
}

/** A directory of a server, and how to connect to it. */
export interface SftpPlace {
  readonly shown: string;
  /** Absolute, or relative to the directory in which the server begins. */
  readonly directory: string;
  readonly config: ConnectConfig;
  /** Why the server's key was refused, if it was. */
  readonly refusal: () => SyncError | undefined;
}

/** Reads `sftp://USER@HOST[:PORT]/PATH`; `/~/PATH` begins in the home directory of the user. */
export function placeOf(to: string, secrets: SftpSecrets, environment: NodeJS.ProcessEnv): SftpPlace {
  const url = URL.canParse(to) ? new URL(to) : undefined;
  const isUsable = url?.username && url.hostname && !url.password && !url.search && !url.hash;
  if (!url || !isUsable)
    throw invalid(
      'Cannot use --to: it must be sftp://USER@HOST[:PORT]/PATH without a password, which is in --secret-file or SUBREPORT_SFTP_PASSWORD, such as sftp://exports@files.example.com/reports',
    );
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || 22);
  const path = decodeURIComponent(url.pathname).replace(/\/+$/, '');
  const pinned = pinnedKeys(host, port, secrets);
  let refusal: SyncError | undefined;
  return {
    shown: `sftp://${url.username}@${url.host}${path}`,
    directory: path.startsWith('/~') ? path.slice(3) || '.' : path || '/',
    refusal: () => refusal,
    config: {
      host,
      port,
      username: decodeURIComponent(url.username),
      ...authentication(secrets.secretFile, environment),
      ...preferredTypes(pinned),
      readyTimeout: 20_000,
      keepaliveInterval: 15_000,
      hostVerifier(key: Buffer) {
        if (pinned.some((known) => known.accepts(key))) return true;
        refusal = refused(`${host}:${port}`, fingerprintOf(key), pinned.length > 0);
        return false;
      },
    },
  };
}

/** A key that the server may have. */
interface PinnedKey {
  readonly type?: string;
  accepts(key: Buffer): boolean;
}

function pinnedKeys(host: string, port: number, { hostKey, knownHosts }: SftpSecrets): readonly PinnedKey[] {
  if (hostKey !== undefined) {
    if (/^SHA256:[A-Za-z0-9+/]{43}=?$/.test(hostKey))
      return [{ accepts: (key) => fingerprintOf(key) === hostKey.replace(/=$/, '') }];
    throw invalid(
      `Cannot use --host-key: it must be a fingerprint as ssh-keygen -lf prints it, such as SHA256:${'a'.repeat(43)}: current value is '${hostKey}'`,
    );
  }
  const lines = readKnownHosts(knownHosts).map((line) => line.trim().split(/\s+/));
  // whatever hosts such a line names
  const revoked = new Set(lines.flatMap(([marker, _hosts, _type, key]) => (marker === '@revoked' && key) || []));
  return lines.flatMap(([hosts = '', type = '', key = '']) => {
    if (revoked.has(key) || !isAbout(hosts, port === 22 ? host : `[${host}]:${port}`)) return [];
    return [{ type, accepts: (found: Buffer) => found.equals(Buffer.from(key, 'base64')) }];
  });
}

function readKnownHosts(given: string | undefined): readonly string[] {
  const file = given ?? join(homedir(), '.ssh', 'known_hosts');
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if (given === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw invalid(`Cannot use --known-hosts: it must be a file that this user can read: current value is '${file}'`);
  }
}

/** Whether the first field of a line of known_hosts has a host, as it is or hashed. */
function isAbout(hosts: string, host: string): boolean {
  const [, salt = '', hash] = /^\|1\|([^|]+)\|(.+)$/.exec(hosts) ?? [];
  if (hash !== undefined) return createHmac('sha1', Buffer.from(salt, 'base64')).update(host).digest('base64') === hash;
  return hosts.split(',').includes(host);
}

/** Asks the server for a key of a known type, if it has several. */
function preferredTypes(pinned: readonly PinnedKey[]): Pick<ConnectConfig, 'algorithms'> {
  const types = new Set(
    pinned.flatMap(({ type }) => (type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : (type ?? []))),
  );
  if (types.size === 0) return {};
  return { algorithms: { serverHostKey: { append: [], prepend: [...types] as ServerHostKeyAlgorithm[], remove: [] } } };
}

const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

const refused = (server: string, fingerprint: string, isPinned: boolean): SyncError =>
  invalid(
    isPinned
      ? `Cannot trust ${server}: its host key must be the pinned one; ask its operator whether it was changed: current value is ${fingerprint}`
      : `Cannot trust ${server}: its host key must be pinned, by known_hosts or --host-key; compare it with what its operator says, then use --host-key ${fingerprint}: current value is not pinned`,
  );

function authentication(file: string | undefined, environment: NodeJS.ProcessEnv): ConnectConfig {
  const { SUBREPORT_SFTP_PASSWORD: password, SSH_AUTH_SOCK: agent } = environment;
  if (file === undefined) {
    if (password) return { password };
    if (agent) return { agent };
    throw invalid(
      'Cannot use SFTP: there must be a private key or a password: --secret-file ~/.ssh/id_ed25519, SUBREPORT_SFTP_PASSWORD or an agent in SSH_AUTH_SOCK',
    );
  }
  const text = readSecret(file);
  if (!text.includes('-----BEGIN')) return { password: text.replace(/\r?\n$/, '') };
  const key = ssh2.utils.parseKey(text);
  if (!(key instanceof Error)) return { privateKey: text };
  throw invalid(
    `Cannot use --secret-file: it must be a private key without passphrase, or a password; keys with one can be in ssh-agent: current value is '${file}' (${key.message})`,
  );
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw invalid(`Cannot use --secret-file: it must be a file that this user can read: current value is '${file}'`);
  }
}

const invalid = (message: string): SyncError => new SyncError('DESTINATION_INVALID', message);
