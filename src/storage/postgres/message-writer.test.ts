import { expect, test } from 'vitest';
import { MessageWriter } from './message-writer.ts';

test('messages have their lengths in bytes, however long their texts are', () => {
  const writer = new MessageWriter();
  const text = `select '${'ü'.repeat(2_000)}'`;
  writer.parse('name', text);
  writer.bind('name', ['é', 5, null, '']);
  writer.sync();
  const { bytes } = writer;
  const types: string[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at + 1) + 1)
    types.push(String.fromCharCode(bytes[at] ?? 0));
  expect(types).toEqual(['P', 'B', 'S']);
  expect(bytes.toString('utf8', 5, 10)).toBe('name\0');
  expect(bytes.includes(text)).toBe(true);
  const values = Buffer.from('\0\x04\0\0\0\x02é\0\0\0\x015\xff\xff\xff\xff\0\0\0\0'.replace('é', 'Ã©'), 'latin1');
  expect(bytes.includes(values)).toBe(true);
});
