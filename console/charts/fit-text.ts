const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The text, or as much of its beginning as fits with an ellipsis into `width`. */
export function fitText(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  const graphemes = [...segmenter.segment(text)].map(({ segment }) => segment);
  const cut = (length: number) => `${graphemes.slice(0, length).join('').trimEnd()}…`;
  let fits = 0;
  let tooLong = graphemes.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (measure(cut(middle)) <= width) fits = middle;
    else tooLong = middle;
  }
  return cut(fits);
}
