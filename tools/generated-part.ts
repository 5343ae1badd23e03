const begin = '<!-- written by npm run docs -->';
const end = '<!-- end -->';

/** Returns a page with its generated part, between two markers, replaced. */
export function withGeneratedPart(page: string, part: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) {
    throw new TypeError(`Cannot write the generated part of a page: it must contain '${begin}' and '${end}'`);
  }
  return `${before}${begin}\n${part}\n${end}${after}`;
}
