import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { SyncError } from './error.ts';
import type { FileStore } from './file-store.ts';
import { type Bucket, bucketOf } from './s3-bucket.ts';

/** Bytes of a part, which is in memory until it has arrived. S3 takes 10,000 parts: 78 GiB. */
const partBytes = 8 * 1024 * 1024;

/** Most bytes of a response that is read as a whole; a list of 1,000 folders has 100 kB. */
const responseBytesMax = 2 * 1024 * 1024;

const timeoutMs = 300_000;

interface Sent {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** The object; none for the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Codes of S3 that are no failure. */
  readonly accept?: readonly number[];
}

/** Files below a prefix of a bucket, on S3 or a server with its API (Signature Version 4). */
export class S3Files implements FileStore {
  readonly #bucket: Bucket;
  readonly #signingKeys = new Map<string, ArrayBuffer>();
  /** How often a request is tried; once after the server has failed, so that the run ends soon. */
  #attemptsMax = 4;

  private constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** Throws `SyncError` unless the bucket can be read with the credentials. */
  static async open(to: string, secretFile: string | undefined, environment: NodeJS.ProcessEnv): Promise<S3Files> {
    const files = new S3Files(bucketOf(to, secretFile, environment));
    await files.#list('1');
    return files;
  }

  get shown(): string {
    return this.#bucket.shown;
  }

  async folders(): Promise<readonly string[]> {
    const found: string[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const text = await this.#list('1000', next);
      for (const [, prefix = ''] of text.matchAll(/<Prefix>([^<]*)\/<\/Prefix>/g))
        found.push(prefix.split('/').at(-1) ?? '');
      next = /<NextContinuationToken>([^<]+)</.exec(text)?.[1];
    }
    return found;
  }

  async read(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const response = await this.#send({ method: 'GET', key: name, accept: [404] });
    if (response.status !== 404) return this.#bodyOf(response);
    const text = await this.#textOf(response);
    if (text.includes('NoSuchBucket')) throw this.#refused(404, text);
    return undefined;
  }

  async write(name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    let upload: string | undefined;
    const tags: string[] = [];
    try {
      for await (const { body, isLast } of partsOf(content)) {
        if (upload === undefined && isLast) return void (await this.#send({ method: 'PUT', key: name, body }));
        upload ??= await this.#begin(name);
        const query = { partNumber: String(tags.length + 1), uploadId: upload };
        const { headers } = await this.#send({ method: 'PUT', key: name, query, body });
        tags.push(headers.get('etag') ?? '');
      }
      await this.#complete(name, upload ?? '', tags);
      await this.#abortAll(name); // those that began with a request whose response was lost
    } catch (error) {
      // the first error is the one to report; what is left here, the next run aborts
      if (upload !== undefined) await this.#abort(name, upload).catch(() => undefined);
      throw error;
    }
  }

  async create(name: string, text: string): Promise<boolean> {
    const sent = { method: 'PUT', key: name, body: Buffer.from(text) } as const;
    const found = await this.#send({ method: 'HEAD', key: name, accept: [404] });
    if (found.status !== 404) return false;
    // servers that do not know the condition ignore it, or respond with 501
    const conditional = { ...sent, headers: { 'if-none-match': '*' }, accept: [409, 412, 501] };
    const { status } = await this.#send(conditional);
    if (status === 501) await this.#send(sent);
    return status !== 409 && status !== 412;
  }

  async replace(name: string, text: string): Promise<void> {
    await this.#send({ method: 'PUT', key: name, body: Buffer.from(text) });
  }

  async discard(name: string): Promise<void> {
    await this.#send({ method: 'DELETE', key: name, accept: [404] });
    if (name.includes('/')) await this.#abortAll(name); // small files have no parts
  }

  /**
   * Completes an upload that does not exist. A server that allows writing responds that there is no
   * such upload, others respond with 403. Nothing is written.
   */
  async requireWritable(): Promise<void> {
    const body = completionOf(['none']);
    const query = { uploadId: 'none' };
    await this.#send({ method: 'POST', key: 'check', query, body, accept: [400, 404, 405, 500, 501] });
  }

  async close(): Promise<void> {
    // nothing is open
  }

  async #abortAll(name: string): Promise<void> {
    const query = { uploads: '', prefix: this.#keyOf(name) };
    // a server that cannot list them is not asked twice
    const response = await this.#send({ method: 'GET', query, accept: [501] });
    const uploads = await this.#textOf(response);
    for (const [, upload = ''] of uploads.matchAll(/<UploadId>([^<]+)</g)) await this.#abort(name, upload);
  }

  async #list(count: string, token = ''): Promise<string> {
    const { prefix } = this.#bucket;
    const query = { 'list-type': '2', delimiter: '/', 'max-keys': count, prefix: prefix === '' ? '' : `${prefix}/` };
    const next = token === '' ? {} : { 'continuation-token': token };
    return this.#textOf(await this.#send({ method: 'GET', query: { ...query, ...next } }));
  }

  async #begin(key: string): Promise<string> {
    const text = await this.#textOf(await this.#send({ method: 'POST', key, query: { uploads: '' } }));
    const upload = /<UploadId>([^<]+)</.exec(text)?.[1];
    if (upload !== undefined) return upload;
    throw this.#failed(`a response without UploadId: ${text.slice(0, 200)}`);
  }

  async #complete(key: string, uploadId: string, tags: readonly string[]): Promise<void> {
    const sent = { method: 'POST', key, query: { uploadId }, body: completionOf(tags), accept: [404] } as const;
    const response = await this.#send(sent);
    const text = await this.#textOf(response);
    if (response.status === 404) {
      // no upload, because it was completed by a request whose response was lost?
      const { status } = await this.#send({ method: 'HEAD', key, accept: [404] });
      if (status === 404) throw this.#refused(404, text);
    }
    // the status is sent before the parts are joined
    else if (/<Error>/.test(text)) throw this.#failed(codeOf(text));
  }

  async #abort(key: string, uploadId: string): Promise<void> {
    await this.#send({ method: 'DELETE', key, query: { uploadId }, accept: [404] });
  }

  #keyOf(name: string): string {
    const { prefix } = this.#bucket;
    return prefix === '' ? name : `${prefix}/${name}`;
  }

  /** Sends a request, again if the server is busy or the connection is lost. */
  async #send(sent: Sent): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#sendOnce(sent).catch((error: unknown) => error as Error);
      const isLost = response instanceof Error;
      if (!isLost && (response.ok || sent.accept?.includes(response.status))) return response;
      const mayWork = isLost || response.status === 429 || (response.status >= 500 && response.status !== 501);
      if (mayWork && attempt < this.#attemptsMax) {
        await sleep(100 * 4 ** attempt * (0.5 + Math.random() / 2));
        continue;
      }
      if (mayWork) this.#attemptsMax = 1;
      if (isLost) throw this.#failed(String(response.cause ?? response.message), response);
      throw this.#refused(response.status, await this.#textOf(response));
    }
  }

  async #sendOnce({ method, key, query = {}, body, headers = {} }: Sent): Promise<Response> {
    const { credentials, region, base } = this.#bucket;
    const path = key === undefined ? '' : this.#keyOf(key).split('/').map(encoded).join('/');
    const parameters = Object.entries(query).map(([name, value]) => `${name}=${encoded(value)}`);
    const url = new URL(`${base}/${path}${parameters.length === 0 ? '' : '?'}${parameters.join('&')}`);
    // the server compares the body with this hash, which the signature covers
    const sha256 = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const signer = new AwsV4Signer({
      ...credentials,
      ...{ method, url: url.href, region, service: 's3', cache: this.#signingKeys },
      headers: { ...headers, 'x-amz-content-sha256': sha256 },
    });
    const signed = await signer.sign();
    return fetch(signed.url, {
      ...{ method, headers: signed.headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) },
      ...(body && { body: body as Buffer<ArrayBuffer> }),
    });
  }

  async #textOf(response: Response): Promise<string> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of this.#bodyOf(response)) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > responseBytesMax) throw this.#failed('a response of more than 2 MiB');
    }
    return text;
  }

  async *#bodyOf(response: Response): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      if (response.body !== null) yield* response.body;
    } catch (error) {
      throw this.#failed(String(error), error);
    }
  }

  #refused(status: number, text: string): SyncError {
    const found = `${status} ${codeOf(text)}`.trim();
    if (status === 429 || status >= 500) return this.#failed(found);
    return new SyncError(
      'DESTINATION_INVALID',
      `Cannot use ${this.shown}: it must be a bucket that exists, in the region of the request, and the credentials must be valid for it and may list, read, write and delete, such as s3://exports/subreport?region=eu-central-1: current value is ${found}`,
    );
  }

  #failed(found: string, cause?: unknown): SyncError {
    return new SyncError(
      'DESTINATION_FAILED',
      `Cannot use ${this.shown}: it must take the whole file, and stay available until the end: current value is ${found}`,
      { cause },
    );
  }
}

/** Encodes as the signature does (RFC 3986, section 2.3): a space is no `+`. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

/** The body of a request that joins parts. */
function completionOf(tags: readonly string[]): Buffer {
  const parts = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
  return Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
}

/** The code and message of an error of S3. */
const codeOf = (text: string): string =>
  ['Code', 'Message'].flatMap((name) => new RegExp(`<${name}>([^<]{1,300})`).exec(text)?.[1] ?? []).join(': ');

/** Yields content in parts of one size, except the last one. A part is valid until the next one. */
async function* partsOf(
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly body: Buffer; readonly isLast: boolean }, void, undefined> {
  const part = Buffer.allocUnsafe(partBytes);
  let filled = 0;
  for await (const chunk of content) {
    for (let from = 0; from < chunk.length; ) {
      if (filled === partBytes) {
        yield { body: part, isLast: false };
        filled = 0;
      }
      const taken = chunk.subarray(from, from + partBytes - filled);
      part.set(taken, filled);
      filled += taken.length;
      from += taken.length;
    }
  }
  yield { body: part.subarray(0, filled), isLast: true };
}
