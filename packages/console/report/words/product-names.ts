import { signal } from '@preact/signals';
import { session } from '../session/session.ts';

/** The names of the products that the page has seen, by id. */
const names = signal<ReadonlyMap<string, string>>(new Map());
session.onLeave(() => {
  names.value = new Map();
});

/** Remembers the names of products. */
export function rememberProducts(products: Iterable<{ readonly id: string; readonly name?: string }>): void {
  const added = [...products].flatMap(({ id, name }) =>
    name === undefined || names.peek().get(id) === name ? [] : [[id, name] as const],
  );
  if (added.length > 0) names.value = new Map([...names.peek(), ...added]);
}

/** The name of a record's product, or words that say that it has none. */
export const nameOf = ({ name }: { readonly name?: string }): string => name || 'No name';

/** The name of a product; its id if the page has not seen the name. */
export const productName = (id: string): string => names.value.get(id) || id;
