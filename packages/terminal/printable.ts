/** Control characters, and those that reverse or hide text; not the joiner of emoji. */
const unprintable = /[\p{Cc}\u2028\u2029]|(?!\u200d)\p{Cf}/gu;

/** Replaces characters that a terminal would interpret instead of displaying. */
export const printable = (text: string): string => text.replace(unprintable, '\ufffd');
