import type { ComponentType } from 'preact';
import type { IconNode } from './icons.ts';

/** A page of a console. */
export interface Page {
  /** Its path; it also has the paths below it. */
  readonly path: string;
  readonly label: string;
  readonly icon: IconNode;
  /** Imports the component. Begins when the page is first shown. */
  readonly load: () => Promise<ComponentType>;
  /** Without an entry in the rail. */
  readonly isHidden?: boolean;
}

/** The page of a path: the one whose path is equal, or is a folder of it. */
export function pageAt(pages: readonly Page[], path: string): Page | undefined {
  const wanted = path.replace(/(?<=.)\/$/, '');
  return pages.find((page) => {
    const own = page.path.replace(/\/$/, '');
    return wanted === own || (page.path !== '/console/' && wanted.startsWith(`${own}/`));
  });
}
