import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// The upper limit: node:http that sends one prepared response to every request and checks nothing.
// `ANSWER` is a file with the headers and the body.

const { headers, body } = JSON.parse(readFileSync(process.env.ANSWER ?? '', 'utf8')) as {
  readonly headers: Record<string, string>;
  readonly body: string;
};
const bytes = Buffer.from(body);
const full = { ...headers, 'content-length': String(bytes.length) };

const server = createServer((_request, response) => response.writeHead(200, full).end(bytes));
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
