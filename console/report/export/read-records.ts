import type { Subscription } from '../../../src/client/index.ts';

/** Parses NDJSON to records. */
export async function* readRecords(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Subscription, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
  if (rest !== '') throw new Error('Cannot read the export: its last line must end with a line feed');
}
