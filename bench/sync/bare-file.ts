import { execFileSync } from 'node:child_process';
import { open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { createClient, type ExportOptions } from '../../src/client/index.ts';

// node bare-file.ts FORMAT FILE [TO]: the floor of `files.ts`. Reads an export without looking at
// it, and writes the bytes to a file; then the file to a URL with one PUT, or to an SFTP server
// with OpenSSH's client, whose options are in SFTP_OPTIONS.

const [format = '', file = '', to] = process.argv.slice(2);
const { SUBREPORT_URL: url = '', SFTP_OPTIONS = '[]', ...variables } = process.env;
const client = createClient({
  url,
  clientId: variables.SUBREPORT_CLIENT_ID ?? '',
  clientSecret: variables.SUBREPORT_CLIENT_SECRET ?? '',
  tokenUrl: `${url}/oauth2/token`,
});
const [sent, compression] = format.split('.') as [ExportOptions['format'], string | undefined];
const report = await client.export({}, { format: sent, verify: false });
const handle = await open(file, 'w');
const bytes = compression === undefined ? report : Readable.from(report).pipe(createGzip());
for await (const chunk of bytes) await handle.writeFile(chunk);
await handle.sync();
await handle.close();
if (to?.startsWith('http')) await put(to);
else if (to !== undefined)
  execFileSync('sftp', [...JSON.parse(SFTP_OPTIONS), '-q', '-b', '-', to], { input: `put ${file}\n` });

/** Sends the file with the headers that an S3 without signatures needs. */
async function put(address: string): Promise<void> {
  const { size } = await stat(file);
  const source = await open(file);
  const response = await fetch(address, {
    ...{ method: 'PUT', duplex: 'half', body: Readable.toWeb(source.createReadStream()) as ReadableStream },
    headers: { 'content-length': String(size) },
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}
