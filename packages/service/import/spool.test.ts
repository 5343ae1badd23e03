import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { Spool } from './spool.ts';

const parent = mkdtempSync(join(tmpdir(), 'subreport-test-'));
const folder = join(parent, 'spool');
afterAll(() => rmSync(parent, { recursive: true }));

const sourceOf = (...texts: string[]) => Readable.from(texts.map((text) => Buffer.from(text)));
const textOf = async (source: AsyncIterable<Buffer>) => Buffer.concat(await Array.fromAsync(source)).toString();

test('a stored source can be read repeatedly, and its file has no name', async () => {
  const spool = new Spool(folder, 1_000_000);
  const text = 'x'.repeat(200_000);
  const stored = await spool.store(sourceOf(text, 'end'));
  expect(readdirSync(folder)).toEqual([]);
  for (let n = 0; n < 2; n += 1) expect(await textOf(stored.open())).toBe(`${text}end`);
  await stored.close();
});

test('all stored sources share a limit of bytes and give their bytes back', async () => {
  const spool = new Spool(folder, 10);
  await expect(spool.store(sourceOf('12345', '678901'))).rejects.toMatchObject({ code: 'TOO_LARGE' });
  const first = await spool.store(sourceOf('123456'));
  await expect(spool.store(sourceOf('12345'))).rejects.toMatchObject({ code: 'NO_ROOM' });
  await first.close();
  const second = await spool.store(sourceOf('1234567890'));
  expect(await textOf(second.open())).toBe('1234567890');
  await second.close();
});

test('the largest source that is still arriving gives way to that of a tenant with less', async () => {
  const spool = new Spool(folder, 10);
  const [arrived, wait] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = (async function* () {
    yield Buffer.from('12345678');
    arrived.resolve();
    await wait.promise;
    yield Buffer.from('9');
  })();
  const storing = expect(spool.store(slow, 0, 'slow')).rejects.toMatchObject({ code: 'NO_ROOM' });
  await arrived.promise;
  await expect(spool.store(sourceOf('123'), 0, 'slow')).rejects.toMatchObject({ code: 'NO_ROOM' });
  const other = await spool.store(sourceOf('123456'), 0, 'other');
  wait.resolve();
  await storing;
  await expect(spool.store(sourceOf('12345'), 0, 'third')).rejects.toMatchObject({ code: 'NO_ROOM' });
  expect(await textOf(other.open())).toBe('123456');
  await other.close();
  await (await spool.store(sourceOf('1234567890'), 0, 'third')).close();
});

test('a source that fails while it is stored throws its error and uses no space', async () => {
  const spool = new Spool(folder, 10);
  const broken = (async function* () {
    yield Buffer.from('1234567890');
    throw new Error('the client went away');
  })();
  await expect(spool.store(broken)).rejects.toThrow('the client went away');
  await (await spool.store(sourceOf('1234567890'))).close();
});

test('a source whose size is known is refused before its first byte', async () => {
  const source = sourceOf('1');
  await expect(new Spool(folder, 10).store(source, 11)).rejects.toMatchObject({
    code: 'TOO_LARGE',
    message: expect.stringMatching(/at most 10 bytes \(SPOOL_MAX_MIB\); compress it.*import FILE/),
  });
  expect(source.readableDidRead).toBe(false);
});

test('sweep removes the files that a killed process left', async () => {
  const spool = new Spool(folder, 10);
  const stored = await spool.store(sourceOf('mine'));
  writeFileSync(join(folder, 'left'), 'personal data');
  await spool.sweep();
  expect(readdirSync(folder)).toEqual([]);
  expect(await textOf(stored.open())).toBe('mine');
  await stored.close();
  await new Spool(join(parent, 'never-used'), 10).sweep();
});

test('a folder that cannot be created is named in the error', async () => {
  writeFileSync(join(parent, 'file'), '');
  await expect(new Spool(join(parent, 'file', 'spool'), 10).store(sourceOf('x'))).rejects.toMatchObject({
    code: 'NO_ROOM',
    message: expect.stringContaining('ENOTDIR'),
  });
});
