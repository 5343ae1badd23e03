import { pipeline } from 'node:stream/promises';
import { SyncError } from '../source/error.ts';
import type { FileStore } from './file-store.ts';
import { type Ended, RcloneProcess } from './rclone-process.ts';

/** Most bytes of a list; one of 100,000 instants has 2 MB. */
const listBytesMax = 8 * 1024 * 1024;

/** What rclone prints after a lost connection; its exit code is not always 5. */
const connectionLost = /connection (refused|reset|lost)|timeout|no such host|unreachable|broken pipe|EOF$/;

/** Over SFTP: another run has created the folder between rclone's look and its own attempt. */
const folderCollision = /mkdir "[^"]*" failed: sftp: "Failure"/;

/** How rclone is started. */
interface RcloneOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that it may make no progress. */
  readonly idleMsMax?: number;
}

/**
 * Files at a remote of rclone, which has the protocols and credentials of some seventy stores. Each
 * step is a process: `lsf`, `cat` or `rcat`.
 */
export class RcloneFiles implements FileStore {
  readonly shown: string;
  warning?: string;
  readonly #remote: string;
  readonly #options: RcloneOptions;
  readonly #idleMsMax: number;

  private constructor(remote: string, options: RcloneOptions) {
    this.#remote = remote;
    this.#idleMsMax = options.idleMsMax ?? 300_000;
    this.shown = shownOf(remote).replace(/\/+$/, '');
    const { SUBREPORT_CLIENT_SECRET: _secret, SUBREPORT_OPERATOR_TOKEN: _token, ...environment } = options.environment;
    // no bucket with a wrong name must be created, and the right to write is enough
    const ours = { RCLONE_S3_NO_CHECK_BUCKET: 'true', RCLONE_GCS_NO_CHECK_BUCKET: 'true' };
    this.#options = { ...options, environment: { ...ours, ...environment } };
  }

  /** Opens `REMOTE:PATH`. Throws `SyncError` if it is not one, or if rclone cannot start. */
  static async open(remote: string, options: RcloneOptions): Promise<RcloneFiles> {
    if (!/^:?[\p{L}\p{N}_][\p{L}\p{N}_.+@ -]*(,[^\p{Cc}]*)?:[^\p{Cc}]*$/u.test(remote))
      throw new SyncError(
        'DESTINATION_INVALID',
        `Cannot use --to: it must be rclone:REMOTE:PATH with a remote that 'rclone listremotes' shows, such as rclone:s3:exports/subreport: current value is '${shownOf(remote)}'`,
      );
    const files = new RcloneFiles(remote, options);
    if (isUnpinnedSftp(remote, await files.#readConfig(), files.#options.environment))
      files.warning = `Warning: rclone does not check the host key of ${files.shown}, so another server could get the files: set RCLONE_SFTP_KNOWN_HOSTS_FILE or known_hosts_file of the remote, such as ~/.ssh/known_hosts`;
    return files;
  }

  async list(folder?: string): Promise<ReadonlyMap<string, number>> {
    const text = await this.#textOf('lsf', '--format', 'sp', '--separator', ';', '--', this.#at(folder));
    const entries = [...text.matchAll(/^(-?\d+);(.+?)\/?$/gm)];
    return new Map(entries.map(([, bytes, name = '']) => [name, Number(bytes)]));
  }

  read(name: string): AsyncIterable<Uint8Array> {
    return this.#outputOf('cat', '--', this.#at(name));
  }

  async write(name: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const rclone = this.#start('rcat', '--', this.#at(name));
    rclone.child.stdout.resume();
    let failure: { readonly error: unknown } | undefined;
    const idleMsMax = this.#idleMsMax;
    const input = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        for await (const chunk of content) {
          rclone.mayTake(idleMsMax);
          yield chunk;
        }
        rclone.mayTake(12 * idleMsMax); // some stores get a file only after its end
      } catch (error) {
        failure = { error };
        await rclone.stop(); // it would take the end of its input for the end of the file
      }
    };
    const isWhole = await pipeline(input, rclone.child.stdin).then(
      () => true,
      () => false,
    );
    const ended = await rclone.ended;
    if (failure !== undefined) throw failure.error;
    if (!isWhole || ended.code !== 0) throw this.#failed('rcat', ended);
  }

  /**
   * Tries to, also after an interruption; who may only write may not, and the file counts for
   * nothing anyway.
   */
  async discard(name: string): Promise<void> {
    const rclone = new RcloneProcess(['deletefile', '--', this.#at(name)], this.#options.environment);
    rclone.mayTake(this.#idleMsMax);
    rclone.child.stdout.resume();
    await rclone.ended;
  }

  /** The output of a command. Empty if the file or folder does not exist. */
  async *#outputOf(...args: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
    const rclone = this.#start(...args);
    try {
      for await (const chunk of rclone.child.stdout) {
        rclone.mayTake(this.#idleMsMax);
        yield chunk;
      }
      const ended = await rclone.ended;
      const isMissing = ended.code === 3 || ended.code === 4;
      if (ended.code !== 0 && !isMissing) throw this.#failed(args[0] ?? '', ended);
    } finally {
      await rclone.stop();
    }
  }

  async #readConfig(): Promise<RcloneConfig> {
    const text = await this.#textOf('config', 'dump');
    try {
      return JSON.parse(text || '{}') as RcloneConfig;
    } catch {
      throw this.#failed('config', { code: 0, found: `no JSON of 'rclone config dump'` });
    }
  }

  async #textOf(...args: readonly string[]): Promise<string> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of this.#outputOf(...args)) {
      parts.push(part);
      bytes += part.length;
      if (bytes > listBytesMax) throw this.#failed(args[0] ?? '', { code: 0, found: 'a list of more than 8 MiB' });
    }
    return Buffer.concat(parts).toString();
  }

  #start(...args: readonly string[]): RcloneProcess {
    const { environment, signal } = this.#options;
    const rclone = new RcloneProcess(args, environment, signal);
    rclone.mayTake(this.#idleMsMax);
    return rclone;
  }

  #at(name = ''): string {
    return this.#remote + (name === '' || /[:/]$/.test(this.#remote) ? '' : '/') + name;
  }

  #failed(command: string, { code, found }: Ended): SyncError {
    // what rclone says of a remote may have its parameters
    const [, parameters = ''] = /^:?[^,:]*(,.*)$/s.exec(this.#remote) ?? [];
    const value = parameters === '' ? found : withoutParameters(found.replaceAll(parameters, ',…'));
    if (code === -1)
      return new SyncError(
        'DESTINATION_INVALID',
        `Cannot use ${this.shown}: the program rclone must be installed, such as with 'apt-get install rclone' or from https://rclone.org/downloads: current value is ${value}`,
      );
    if (/didn't find (section in config file|backend called)/.test(found))
      return new SyncError(
        'DESTINATION_INVALID',
        `Cannot use ${this.shown}: it must have a remote that 'rclone listremotes' shows, such as rclone:s3:exports/subreport: current value is ${value}`,
      );
    const isTemporary = code === 5 || code === null || connectionLost.test(found) || folderCollision.test(found);
    return command === 'rcat'
      ? new SyncError(
          isTemporary ? 'DESTINATION_FAILED' : 'DESTINATION_REFUSED',
          `Cannot write to ${this.shown}: rclone must store the whole file: current value is ${value}`,
        )
      : new SyncError(
          // what is lost now may be read later; what is refused stays so
          isTemporary ? 'DESTINATION_FAILED' : 'DESTINATION_UNREADABLE',
          `Cannot read ${this.shown}: rclone must be able to list and read it: current value is ${value}`,
        );
  }
}

/** A message without the parameters of a remote in quotes, escaped or cut as rclone writes them. */
const withoutParameters = (message: string): string => message.replace(/"(:?[^",:]*),(?:[^"\\]|\\.?)*("|$)/g, '"$1,…"');

const shownOf = (remote: string): string => `rclone:${remote.replace(/,.*/s, ',…').replace(/\p{Cc}/gu, '\ufffd')}`;

/** What `rclone config dump` prints. */
type RcloneConfig = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Whether a remote is SFTP without a file of known hosts: rclone then accepts any host key. Looks
 * where rclone does: parameters of the remote, the environment, the configuration; and through
 * remotes that wrap another one, such as `crypt`.
 */
export function isUnpinnedSftp(remote: string, config: RcloneConfig, environment: NodeJS.ProcessEnv): boolean {
  const wrapped = new Set<string>();
  for (let next: string | undefined = remote; next !== undefined && !wrapped.has(next); ) {
    wrapped.add(next);
    const [, name = '', parameters = ''] = /^(:?[^,:]*)(,.*)?:/s.exec(next) ?? [];
    const option = (key: string): string | undefined =>
      new RegExp(`,${key}=("[^"]*"|'[^']*'|[^,:]*)`).exec(parameters)?.[1] ??
      environment[`RCLONE_CONFIG_${name}_${key}`.replaceAll('-', '_').toUpperCase()] ??
      (config[name]?.[key] as string | undefined);
    const type = name.startsWith(':') ? name.slice(1) : option('type');
    if (type === 'sftp')
      return !option('known_hosts_file') && !option('ssh') && !environment.RCLONE_SFTP_KNOWN_HOSTS_FILE;
    next = option('remote');
  }
  return false;
}
