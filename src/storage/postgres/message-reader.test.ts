import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wholeMessages } from './message-reader.ts';

const message = (content: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(5 + content.length, 'D');
  bytes.writeUInt32BE(4 + content.length, 1);
  bytes.set(content, 5);
  return bytes;
};

test('messages are whole however the connection splits them (property)', () => {
  const contents = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  fc.assert(
    fc.property(contents, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sent, lengths) => {
      const messages = sent.map(message);
      const stream = Buffer.concat(messages);
      const received: Buffer[] = [];
      const listener = wholeMessages((bytes, start, end) => received.push(Buffer.from(bytes.subarray(start, end))));
      for (let at = 0, part = 0; at < stream.length; part += 1) {
        const length = lengths[part % lengths.length] ?? 1;
        listener(stream.subarray(at, at + length));
        at += length;
      }
      expect(received).toEqual(messages);
    }),
  );
});
