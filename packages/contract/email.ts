import { Type } from './type.ts';

/**
 * A subscriber's email address or identifier: a filter only, never part of a response and never
 * logged.
 */
export const Email = Type.String({
  pattern: '^[^\\s\\u0000-\\u001f\\u007f]{1,254}$',
  minLength: 1,
  maxLength: 254,
  description: "The subscriber's email address or identifier, case-insensitive",
  'x-rule': 'an email address or identifier of 1 to 254 characters without whitespace',
  examples: ['ada@example.com'],
});

/** Normalizes an address for storage and comparison: trimmed, NFC, lower case. */
export function normaliseEmail(text: string): string {
  return text.trim().normalize('NFC').toLowerCase();
}
