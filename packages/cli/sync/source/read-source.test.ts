import { expect, test } from 'vitest';
import { linesOf } from './read-source.ts';

async function* chunksOf(...texts: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of texts) yield Buffer.from(text, 'latin1');
}

const allLines = async (...texts: readonly string[]) => (await Array.fromAsync(linesOf(chunksOf(...texts)))).flat();

test('lines and characters may be cut between chunks, and the last line may lack a line feed', async () => {
  const [first = '', second = ''] = ['Zürich']
    .map((text) => Buffer.from(text).toString('latin1'))
    .flatMap((text) => [text.slice(0, 2), text.slice(2)]);
  expect(await allLines('a\nb', 'c\n\n', first, `${second}\nend`)).toEqual(['a', 'bc', '', 'Zürich', 'end']);
  expect(await allLines('a\n')).toEqual(['a']);
});

test('a line that never ends is not kept', async () => {
  let chunks = 0;
  async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
    for (; chunks < 1_000; chunks += 1) yield Buffer.alloc(65_536, 'a');
  }
  await expect(Array.fromAsync(linesOf(endless()))).rejects.toMatchObject({ code: 'NOT_EQUAL' });
  expect(chunks).toBeLessThan(20);
});
