import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { guardRequest, urlLengthMax } from './guard-request.ts';

/** Guards a request with these parts; rejects as `guardRequest` throws. */
async function guard({
  httpVersion = '1.1',
  url = '/v1/subscription',
  headers = [['Host', 'reports.example']],
}: {
  httpVersion?: string;
  url?: string;
  headers?: readonly (readonly [string, string])[];
}): Promise<void> {
  const raw = {
    httpVersion,
    url,
    rawHeaders: headers.flat(),
    // Node keeps the first of several
    headers: Object.fromEntries([...headers].reverse().map(([name, value]) => [name.toLowerCase(), value])),
  };
  return guardRequest({ raw } as unknown as FastifyRequest);
}

test.each(['reports.example', 'reports.example:8080', '127.0.0.1', '[::1]:8080', 'xn--caf-dma.example', ''])(
  'a request with the host %j is accepted (RFC 9110 §7.2)',
  async (host) => {
    await expect(guard({ headers: [['Host', host]] })).resolves.toBeUndefined();
  },
);

test.each(['a b', 'a/b', 'user@reports.example', 'reports.example:http', '[::1', 'a:1:2', 'reports.example\t'])(
  'a request with the host %j is rejected with 400 (RFC 9112 §3.2)',
  async (host) => {
    await expect(guard({ headers: [['Host', host]] })).rejects.toMatchObject({ code: 'INVALID_HTTP_MESSAGE' });
  },
);

test('a request without a host is rejected in HTTP/1.1 and accepted in HTTP/1.0 (RFC 9112 §3.2)', async () => {
  await expect(guard({ headers: [] })).rejects.toMatchObject({ code: 'INVALID_HTTP_MESSAGE' });
  await expect(guard({ headers: [], httpVersion: '1.0' })).resolves.toBeUndefined();
});

test.each([
  ['chunked', true],
  ['Chunked', true],
  ['gzip, chunked', false],
  ['chunked, chunked', false],
])('of the transfer codings, only chunked is read, which %j is: %j (RFC 9112 §6.1)', async (coding, isRead) => {
  const guarded = guard({
    headers: [
      ['Host', 'reports.example'],
      ['Transfer-Encoding', coding],
    ],
  });
  await (isRead
    ? expect(guarded).resolves.toBeUndefined()
    : expect(guarded).rejects.toMatchObject({ code: 'INVALID_HTTP_MESSAGE' }));
});

// a proxy of HTTP/1.0 may read the body up to another end
test('a chunked request of HTTP/1.0 is rejected with 400 (RFC 9112 §6.1)', async () => {
  const headers = [['Transfer-Encoding', 'chunked']] as const;
  await expect(guard({ headers, httpVersion: '1.0' })).rejects.toMatchObject({
    code: 'INVALID_HTTP_MESSAGE',
    message: "Cannot read the request: the header 'transfer-encoding' must be absent in HTTP/1.0",
    headers: { connection: 'close' },
  });
});

test.each(['0.9', '1.2', '2.0'])('a request of HTTP/%s is rejected with 400', async (httpVersion) => {
  await expect(guard({ httpVersion })).rejects.toMatchObject({ code: 'INVALID_HTTP_MESSAGE' });
});

test.each(['http://reports.example/v1', '*', 'reports.example:443', ''])(
  'a request with the target %j, which is not a path, is rejected with 400',
  async (url) => {
    await expect(guard({ url })).rejects.toMatchObject({ code: 'INVALID_HTTP_MESSAGE' });
  },
);

test('the longest URL is accepted, and one character more is rejected with 414', async () => {
  const longest = `/${'a'.repeat(urlLengthMax - 1)}`;
  await expect(guard({ url: longest })).resolves.toBeUndefined();
  await expect(guard({ url: `${longest}a` })).rejects.toMatchObject({ code: 'URI_TOO_LONG' });
});

test.each(['Host', 'Authorization', 'Content-Type', 'Origin'])(
  'a second %s header is rejected in any letter case',
  async (name) => {
    const headers = [
      ['Host', 'reports.example'],
      [name, 'reports.example'],
      [name.toUpperCase(), 'other'],
    ] as const;
    await expect(guard({ headers })).rejects.toMatchObject({
      code: 'INVALID_HTTP_MESSAGE',
      message: `Cannot read the request: the header '${name.toLowerCase()}' must be sent only once`,
    });
  },
);

test('other headers may appear twice', async () => {
  const headers = [
    ['Host', 'reports.example'],
    ['Accept', 'text/csv'],
    ['accept', 'application/json'],
  ] as const;
  await expect(guard({ headers })).resolves.toBeUndefined();
});
