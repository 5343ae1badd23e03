import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, gzip, zstdCompress } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decompress, fileWindowBytesMax, httpWindowBytesMax } from './decompress.ts';

const packers = { gzip: promisify(gzip), zstd: promisify(zstdCompress) };
const large = 2 ** 30;

async function* chunksOf(bytes: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}
const decompressed = async (source: AsyncIterable<Buffer>, windowBytesMax = fileWindowBytesMax): Promise<string> =>
  Buffer.concat(await Array.fromAsync(decompress(source, { bytesMax: large, windowBytesMax }))).toString();

describe('an uncompressed source', () => {
  test.each(['', 'a', '{}', 'id,status\n', '\u001f', '(\u0000'])('is returned unchanged: %j', async (text) => {
    expect(await decompressed(chunksOf(Buffer.from(text)))).toBe(text);
  });
});

describe.each(Object.keys(packers) as (keyof typeof packers)[])('a %s source', (name) => {
  const pack = packers[name];
  const text = Array.from({ length: 20_000 }, (_, n) => `{"line":${n}}\n`).join('');

  test('is decompressed, wherever the chunks are cut', async () => {
    const short = text.slice(0, 20_000); // chunks of one byte are slow
    const bytes = await pack(Buffer.from(short));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3_000 }), async (size) => {
        expect(await decompressed(chunksOf(bytes, size))).toBe(short);
      }),
      { numRuns: 20 },
    );
    expect(await decompressed(chunksOf(await pack(Buffer.from('ä')), 1))).toBe('ä');
  });

  test('of several concatenated parts is read to its end', async () => {
    const bytes = await pack(Buffer.from(text));
    expect((await decompressed(chunksOf(Buffer.concat([bytes, bytes])))).length).toBe(2 * text.length);
  });

  test.each([1, 2, 3, 4, 9, 15])('truncated %i bytes into a later part is rejected (T2)', async (kept) => {
    const bytes = await pack(Buffer.from(text));
    const later = bytes.subarray(0, kept);
    for (const chunks of [[Buffer.concat([bytes, later])], [bytes, later]])
      await expect(decompressed(Readable.from(chunks))).rejects.toMatchObject({ code: 'UNREADABLE' });
  });

  test.each([
    ['text', Buffer.from('more')],
    ['one byte', Buffer.from([0x28])],
    ['zeros', Buffer.alloc(512)],
    ['a skippable frame', Buffer.from('504d2a1800000000', 'hex')],
  ])('followed by %s is rejected (T2)', async (_title, rest) => {
    const bytes = await pack(Buffer.from(text));
    for (const chunks of [[Buffer.concat([bytes, rest])], [bytes, rest]])
      await expect(decompressed(Readable.from(chunks))).rejects.toMatchObject({ code: 'UNREADABLE' });
  });

  test('truncated at any byte is rejected, even if its bytes are incompressible (T2)', async () => {
    const bytes = await pack(randomBytes(200));
    for (let kept = 4; kept < bytes.length; kept += 1)
      await expect(decompressed(chunksOf(bytes.subarray(0, kept)))).rejects.toMatchObject({
        code: 'UNREADABLE',
        message: expect.stringMatching(/^Cannot import past \d+ decompressed bytes: the \w+ source must be complete/),
      });
  });

  test('without content yields nothing', async () => {
    expect(await decompressed(chunksOf(await pack(Buffer.alloc(0))))).toBe('');
  });

  test('with a damaged structure is rejected', async () => {
    const bytes = await pack(Buffer.from(text));
    bytes.fill(0xff, 12, 60);
    await expect(decompressed(chunksOf(bytes))).rejects.toMatchObject({ code: 'UNREADABLE' });
  });

  test('that decompresses to more than allowed is rejected at the limit', async () => {
    const bomb = await pack(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    let given = 0;
    const reading = async (): Promise<void> => {
      for await (const chunk of decompress(chunksOf(bomb), { bytesMax: 1_000_000, windowBytesMax: httpWindowBytesMax }))
        given += chunk.length;
    };
    await expect(reading()).rejects.toMatchObject({ code: 'UNREADABLE', message: expect.stringContaining('1000000') });
    expect(given).toBeLessThanOrEqual(1_000_000);
  });

  test('rethrows the error of the stream it is read from', async () => {
    const bytes = await pack(Buffer.from(text));
    const broken = (async function* () {
      yield bytes.subarray(0, 500);
      throw new Error('the disk went away');
    })();
    await expect(decompressed(broken)).rejects.toThrow('the disk went away');
  });
});

/** A frame of zeros that demands a window of this many bytes to decompress it. */
const withWindow = (windowLog: number): Promise<Buffer> =>
  packers.zstd(Buffer.alloc(2 ** windowLog + 1), { params: { [constants.ZSTD_c_windowLog]: windowLog } });

describe('the window of a zstd source', () => {
  test('may have 8 MiB over HTTP, and no more (RFC 9659 §3)', async () => {
    const [small, large] = await Promise.all([withWindow(23), withWindow(24)]);
    expect(await decompressed(chunksOf(small), httpWindowBytesMax)).toHaveLength(2 ** 23 + 1);
    await expect(decompressed(chunksOf(large), httpWindowBytesMax)).rejects.toMatchObject({
      code: 'UNREADABLE',
      message: expect.stringContaining('must have at most 8388608 bytes'),
    });
    await expect(decompressed(chunksOf(Buffer.concat([small, large])), httpWindowBytesMax)).rejects.toMatchObject({
      code: 'UNREADABLE',
    });
  });

  test('may have 128 MiB in a file', async () => {
    const bytes = await withWindow(27);
    let count = 0;
    for await (const chunk of decompress(chunksOf(bytes), { bytesMax: large, windowBytesMax: fileWindowBytesMax }))
      count += chunk.length;
    expect(count).toBe(2 ** 27 + 1);
  });
});
