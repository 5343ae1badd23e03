/** Characters that terminals draw two columns wide: East Asian wide ones and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Control characters, and those that reverse or hide text; not the joiner of emoji. */
const unprintable = /[\p{Cc}\u2028\u2029]|(?!\u200d)\p{Cf}/gu;

const graphemes = new Intl.Segmenter();

/** Replaces characters that a terminal would interpret instead of displaying. */
export const printable = (text: string): string => text.replace(unprintable, '\ufffd');

/** Number of columns that a terminal uses for a printable string. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Cuts a string to a width, with `…` at its end if anything is missing. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let cut = '';
  for (const { segment } of graphemes.segment(text)) {
    if (displayWidth(cut + segment) >= width) break;
    cut += segment;
  }
  return `${cut}…`;
}
