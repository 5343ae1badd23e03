import { signal } from '@preact/signals';
import { session } from '../session/session.ts';

/** The names of the products that the page has seen, by id. */
const names = signal<ReadonlyMap<string, string>>(new Map());
session.onLeave(() => {
  names.value = new Map();
});

/** Remembers the names of products. */
export function rememberProducts(products: Iterable<{ readonly id: string; readonly name: string }>): void {
  const added = [...products].filter(({ id, name }) => names.peek().get(id) !== name);
  if (added.length > 0) names.value = new Map([...names.peek(), ...added.map(({ id, name }) => [id, name] as const)]);
}

/** The name of a product; its id if the page has not seen the name. */
export const productName = (id: string): string => names.value.get(id) ?? id;
