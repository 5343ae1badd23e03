import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonOf } from './record-writer.ts';

const controls = fc.integer({ min: 0, max: 0x20_6f }).map((code) => String.fromCharCode(code));

test('JSON for a terminal has no control characters, and is read as it was written (property)', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.oneof(controls, fc.constantFrom('\u009b', '\u202e', '\u2066', '"', '\\')) }),
      (text) => {
        expect(jsonOf({ text })).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u);
        expect(JSON.parse(jsonOf({ text }))).toEqual({ text });
      },
    ),
  );
});
