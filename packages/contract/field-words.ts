/**
 * The name of a field in words, for people.
 *
 * @example fieldWords('product.plan_id') // 'Product plan id'
 */
export function fieldWords(name: string): string {
  const words = name.replaceAll(/[._]|(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
