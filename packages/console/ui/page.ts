import type { ComponentType } from 'preact';
import type { IconNode } from './icons.ts';

/** A page of a console. */
export interface Page {
  readonly path: string;
  /** Whether it also shows single items, one path level below it, such as a tenant. */
  readonly hasThings?: boolean;
  readonly label: string;
  readonly icon: IconNode;
  /** Whether it can show a past time, which the address names with `as-of`. */
  readonly hasPast?: boolean;
  /** Imports the component. Begins when the page is first shown. */
  readonly load: () => Promise<ComponentType>;
}

/** The page of a path: the one whose path is equal, or is the folder of a thing's. */
export function pageAt(pages: readonly Page[], path: string): Page | undefined {
  const wanted = path.replace(/(?<=.)\/$/, '');
  const folder = wanted.slice(0, wanted.lastIndexOf('/'));
  return pages.find((page) => {
    const own = page.path.replace(/\/$/, '');
    return wanted === own || (page.hasThings === true && folder === own);
  });
}
