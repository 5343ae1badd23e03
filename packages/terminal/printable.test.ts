import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printableJson } from './printable.ts';

const controls = fc.integer({ min: 0, max: 0x20_6f }).map((code) => String.fromCharCode(code));

test('printable JSON has no control characters, and is read as it was written (property)', () => {
  const unit = fc.oneof(controls, fc.constantFrom('\u009b', '\u202e', '\u2066', '\ufeff', '\u{e0041}', '"', '\\'));
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const json = printableJson(JSON.stringify({ text }));
      expect(json).not.toMatch(/[\p{Cc}\u2028\u2029]|(?!\u200d)\p{Cf}/u);
      expect(JSON.parse(json)).toEqual({ text });
    }),
  );
});
