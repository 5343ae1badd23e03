import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';

/** What an S3 on this machine does. */
export interface S3Server {
  readonly url: string;
  /** Number of uploads in parts that are neither completed nor aborted. */
  uploads(): number;
  stop(): void;
}

/** A policy: returns the status and code of a request that is refused. */
export type S3Policy = (method: string, key: string) => readonly [number, string] | undefined;

/**
 * Starts an S3: objects of the buckets in a folder, one file each, which appears when it is whole.
 * It has what rclone uses of the API (HeadObject, GetObject, PutObject, DeleteObject, ListObjects,
 * multipart uploads), and checks the MD5 sums that it is sent, but no signatures.
 */
export async function startS3Server(folder: string, policy: S3Policy): Promise<S3Server> {
  const uploads = new Map<string, Map<number, Buffer>>();
  const server = createServer((request, response) => {
    new Exchange(folder, uploads, request, response).respond(policy).catch((error: unknown) => {
      response.writeHead(500).end(`<Error><Code>InternalError</Code><Message>${error}</Message></Error>`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    uploads: () => uploads.size,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const md5 = (bytes: Uint8Array): Buffer => createHash('md5').update(bytes).digest();

class Exchange {
  readonly #folder: string;
  readonly #uploads: Map<string, Map<number, Buffer>>;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #url: URL;
  readonly #bucket: string;
  readonly #key: string;

  constructor(
    folder: string,
    uploads: Map<string, Map<number, Buffer>>,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.#folder = folder;
    this.#uploads = uploads;
    this.#request = request;
    this.#response = response;
    this.#url = new URL(request.url ?? '/', 'http://s3');
    const [, bucket = '', ...key] = decodeURIComponent(this.#url.pathname).split('/');
    this.#bucket = bucket;
    this.#key = key.join('/');
  }

  async respond(policy: S3Policy): Promise<void> {
    const method = this.#request.method ?? '';
    const body = await buffer(this.#request);
    const refused = policy(method, this.#key);
    const upload = this.#url.searchParams.get('uploadId');
    if (refused !== undefined) this.#error(...refused);
    else if (!existsSync(join(this.#folder, this.#bucket))) this.#error(404, 'NoSuchBucket');
    else if (upload !== null && !this.#uploads.has(upload)) this.#error(404, 'NoSuchUpload');
    else if (method === 'PUT') this.#put(body, upload);
    else if (method === 'POST' && upload === null) this.#begin();
    else if (method === 'POST') this.#complete(upload ?? '');
    else if (method === 'DELETE') this.#remove(upload);
    else if (this.#key === '') this.#list();
    else this.#get(method);
  }

  get #path(): string {
    return join(this.#folder, this.#bucket, this.#key);
  }

  #put(body: Buffer, upload: string | null): void {
    const sum = this.#request.headers['content-md5'];
    if (sum !== undefined && sum !== md5(body).toString('base64')) this.#error(400, 'BadDigest');
    else {
      if (upload === null) this.#store(body);
      else this.#uploads.get(upload)?.set(Number(this.#url.searchParams.get('partNumber')), body);
      this.#response.writeHead(200, { etag: `"${md5(body).toString('hex')}"` }).end();
    }
  }

  #begin(): void {
    const upload = randomUUID();
    this.#uploads.set(upload, new Map());
    this.#xml(
      `<InitiateMultipartUploadResult><Bucket>${this.#bucket}</Bucket><Key>${this.#key}</Key><UploadId>${upload}</UploadId></InitiateMultipartUploadResult>`,
    );
  }

  #complete(upload: string): void {
    const ordered = [...(this.#uploads.get(upload) ?? [])]
      .sort(([one], [other]) => one - other)
      .map(([, part]) => part);
    this.#store(Buffer.concat(ordered));
    this.#uploads.delete(upload);
    const etag = `${md5(Buffer.concat(ordered.map(md5))).toString('hex')}-${ordered.length}`;
    this.#xml(`<CompleteMultipartUploadResult><ETag>"${etag}"</ETag></CompleteMultipartUploadResult>`);
  }

  #store(body: Buffer): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    const unfinished = join(this.#folder, randomUUID());
    writeFileSync(unfinished, body);
    renameSync(unfinished, this.#path);
  }

  #remove(upload: string | null): void {
    if (upload === null)
      this.#error(403, 'AccessDenied'); // a bucket that keeps its objects
    else {
      this.#uploads.delete(upload);
      this.#response.writeHead(204).end();
    }
  }

  #list(): void {
    const query = this.#url.searchParams;
    const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
    const root = join(this.#folder, this.#bucket);
    const keys = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((key) => key.startsWith(prefix) && statSync(join(root, key)).isFile())
      .sort();
    const folders = new Set<string>();
    const contents = keys.filter((key) => {
      const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
      if (end >= 0) folders.add(key.slice(0, end + 1));
      return end < 0;
    });
    const entries = contents.map((key) => {
      const { size, mtime } = statSync(join(root, key));
      return `<Contents><Key>${key}</Key><LastModified>${mtime.toISOString()}</LastModified><ETag>"-"</ETag><Size>${size}</Size></Contents>`;
    });
    const prefixes = [...folders].map((each) => `<CommonPrefixes><Prefix>${each}</Prefix></CommonPrefixes>`);
    this.#xml(
      `<ListBucketResult><IsTruncated>false</IsTruncated>${entries.join('')}${prefixes.join('')}</ListBucketResult>`,
    );
  }

  #get(method: string): void {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) this.#error(404, 'NoSuchKey');
    else {
      this.#response.writeHead(200, { 'content-length': found.size, 'last-modified': found.mtime.toUTCString() });
      if (method === 'HEAD') this.#response.end();
      else createReadStream(this.#path).pipe(this.#response);
    }
  }

  #xml(text: string): void {
    this.#response.writeHead(200, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${text}`);
  }

  #error(status: number, code: string): void {
    const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
    this.#response.writeHead(status, { 'content-type': 'application/xml' });
    this.#response.end(this.#request.method === 'HEAD' ? undefined : body);
  }
}
