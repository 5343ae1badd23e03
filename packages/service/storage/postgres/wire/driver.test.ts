import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { readMessages, wholeMessages } from './driver.ts';
import { createReusingSocket } from './reusing-socket.ts';

const message = (content: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(5 + content.length, 'D');
  bytes.writeUInt32BE(4 + content.length, 1);
  bytes.set(content, 5);
  return bytes;
};

test('messages are whole however the connection splits them, in memory that changes (property)', () => {
  const contents = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  fc.assert(
    fc.property(contents, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sent, lengths) => {
      const messages = sent.map(message);
      const stream = Buffer.concat(messages);
      const received: Buffer[] = [];
      const listener = wholeMessages((bytes, start, end) => received.push(Buffer.from(bytes.subarray(start, end))));
      for (let at = 0, part = 0; at < stream.length; part += 1) {
        const read = stream.subarray(at, at + (lengths[part % lengths.length] ?? 1));
        listener(read);
        read.fill(0xff);
        at += read.length;
      }
      expect(received).toEqual(messages);
    }),
  );
});

test('a socket reads into the same memory once its messages are read, and into new memory before', async () => {
  const first = Buffer.from('from before');
  const sent = Array.from({ length: 2_000 }, (_, index) => message(Buffer.alloc(200, index)));
  const server = createServer((connection) => {
    connection.write(first);
    connection.once('data', () => connection.end(Buffer.concat(sent)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = createReusingSocket();
  try {
    const driver: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => driver.push(bytes));
    socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'data');
    const memories = new Set<ArrayBufferLike>();
    const received: Buffer[] = [];
    const handleMessage = (_type: number, bytes: Buffer, start: number): boolean => {
      if (bytes.length > 205) memories.add(bytes.buffer); // not a copy of a message in parts
      received.push(Buffer.from(bytes.subarray(start - 5, start + 200)));
      return true;
    };
    readMessages({ connection: { stream: socket }, _activeQuery: { handleMessage } } as unknown as pg.Client);
    socket.write('go on');
    await once(socket, 'end');
    expect(Buffer.concat(received)).toEqual(Buffer.concat(sent));
    expect(memories.size).toBe(1);
    expect(driver).toEqual([first]);
  } finally {
    socket.destroy();
    server.close();
  }
});
