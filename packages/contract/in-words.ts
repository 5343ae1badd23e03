/** How a surface calls a parameter of the API, alone or with a value that it must have. */
type WordOf = (name: string, value: string | undefined) => string;

/** A parameter in quotes, such as `'size'` or `'date-field=expiration'`. */
const mention = /(?:parameter )?'([\w[\]-]+)(?:=([\w-]+))?'/g;

/** Where a sentence begins to repeat what the caller sent, or to suggest a value. */
const quotation = /: current value is |; did you mean /;

/**
 * A sentence of the API with the parameters that it names in quotes as another surface calls them.
 * What follows the rule stays as it is: the value, and a suggestion unless it is a name.
 *
 * @example
 * inWords("Cannot use parameter 'size'", (name) => `--${name}`) // 'Cannot use --size'
 */
export function inWords(sentence: string, wordOf: WordOf): string {
  const end = sentence.includes(': it must be a known name; ') ? -1 : sentence.search(quotation);
  const rule = end < 0 ? sentence : sentence.slice(0, end);
  const reworded = rule.replaceAll(mention, (_, name: string, value: string | undefined) => wordOf(name, value));
  return reworded + sentence.slice(rule.length);
}
