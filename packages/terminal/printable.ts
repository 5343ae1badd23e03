import { maskSecrets } from '../outgoing/known-secrets.ts';

/**
 * Control characters, and those that reverse or hide text; not the joiner of emoji, nor line feeds
 * and tabs of our own.
 */
const unprintable = /(?![\n\t])[\p{Cc}\u2028\u2029]|(?!\u200d)\p{Cf}/gu;

/** How a progress bar begins its line anew. */
export const redraw = '\r\u001b[K';

/**
 * Text of somebody else as one line: without secrets, and without characters that a terminal would
 * interpret instead of displaying.
 */
export const printable = (text: string): string => printableText(text).replace(/\p{Cc}/gu, '\ufffd');

/** Lines of a program as they leave it. Those of somebody else in them are `printable` before. */
export const printableText = (text: string): string =>
  maskSecrets(text)
    .split(redraw)
    .map((part) => part.replace(unprintable, '\ufffd'))
    .join(redraw);

/** JSON with these characters escaped, which `JSON.stringify` leaves: the strings stay the same. */
export const printableJson = (json: string): string =>
  json.replace(unprintable, (found) =>
    found.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
