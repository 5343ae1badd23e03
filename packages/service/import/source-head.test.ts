import { expect, test } from 'vitest';
import { checkedText, readHead } from './source-head.ts';

const read = async (bytes: Buffer, size: number): Promise<Buffer> => {
  const source = (async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  })();
  return Buffer.concat(await Array.fromAsync(checkedText(source)));
};

test.each([
  ['a workbook', Buffer.from('PK\x03\x04rest of it'), 'save the sheet as CSV UTF-8'],
  ['an old workbook', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]), 'save the sheet as CSV UTF-8'],
  ['UTF-16 with its mark', Buffer.from('\ufeffid;iccid\n', 'utf16le'), 'iconv -f UTF-16LE'],
  ['UTF-16 without one', Buffer.from('id;iccid\n', 'utf16le'), 'charset), or convert it with: iconv -f UTF-16LE'],
  ['UTF-16BE', Buffer.from('id;iccid\n', 'utf16le').swap16(), 'iconv -f UTF-16BE'],
  ['UTF-32', Buffer.from('i\0\0\0d\0\0\0;\0\0\0', 'latin1'), 'iconv -f UTF-32LE'],
  ['a page', Buffer.from('\ufeff <!DOCTYPE html><title>Login</title>'), 'HTML or XML'],
  ['gzip within gzip', Buffer.from([0x1f, 0x8b, 8, 0]), 'unpack it once'],
])('%s is refused in one sentence with a remedy, wherever its chunks are cut', async (_title, bytes, remedy) => {
  for (const size of [1, 3, 100]) {
    const message = await read(bytes, size).then(String, (error: Error) => error.message);
    expect(message).toContain(remedy);
    expect(message.length).toBeLessThanOrEqual(200);
  }
});

test.each(['', 'i', 'id,iccid\na,b\n', '{"id":"a"}\n', '\ufeffid'])(
  'the text %j is passed on unchanged',
  async (text) => {
    for (const size of [1, 100]) expect(String(await read(Buffer.from(text), size))).toBe(text);
  },
);

test('a source of small chunks is looked at a few times, and passed on whole', async () => {
  const text = 'x'.repeat(10_000);
  const lengths: number[] = [];
  const { whole } = await readHead(
    (async function* () {
      for (const letter of text) yield Buffer.from(letter);
    })(),
    ({ length }) => lengths.push(length) > 0 && length > 9_000,
  );
  expect(lengths.length).toBeLessThan(20);
  expect(String(Buffer.concat(await Array.fromAsync(whole)))).toBe(text);
});
