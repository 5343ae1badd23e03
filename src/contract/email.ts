import Type from 'typebox';

/**
 * A subscriber's e-mail address or identifier: a filter only, never part of a record on the wire
 * and never logged.
 */
export const Email = Type.String({
  pattern: '^[^\\s\\u0000-\\u001f\\u007f]{1,254}$',
  minLength: 1,
  maxLength: 254,
  description: "The subscriber's e-mail address or identifier, compared without case",
  'x-rule': 'an address or identifier of 1 to 254 characters without blanks (a + in a URL is written %2B)',
  examples: ['ada@example.com'],
});

/** The form in which addresses are kept and compared: trimmed, composed (NFC), lower case. */
export function normaliseEmail(text: string): string {
  return text.trim().normalize('NFC').toLowerCase();
}
