const begin = '<!-- written by npm run docs -->';
const end = '<!-- end -->';

/** Returns a page with its generated parts, each between two markers, replaced. */
export function withGeneratedPart(page: string, ...parts: readonly string[]): string {
  const [before = '', ...rest] = page.split(begin);
  const afters = rest.map((text) => text.split(end)[1]);
  if (afters.length !== parts.length || afters.includes(undefined)) {
    throw new TypeError(
      `Cannot write the generated parts of a page: it must contain ${parts.length} times '${begin}' and '${end}'`,
    );
  }
  return before + parts.map((part, index) => `${begin}\n${part}\n${end}${afters[index]}`).join('');
}
