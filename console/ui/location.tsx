import { signal } from '@preact/signals';
import type { AnchorHTMLAttributes } from 'preact';

/** The address of the page: its path and the parameters of its query. */
export interface PageLocation {
  readonly path: string;
  readonly query: URLSearchParams;
}

const read = (): PageLocation => ({
  path: window.location.pathname,
  query: new URLSearchParams(window.location.search),
});

/** The current address. Changes with `navigate`, Back and Forward. */
export const currentLocation = signal<PageLocation>(read());

window.addEventListener('popstate', () => {
  currentLocation.value = read();
});

/** A path with a query, as in a link. */
export function hrefOf(path: string, query: URLSearchParams = new URLSearchParams()): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

/**
 * Shows another address of the console. Back returns to this one, unless `replace` is set. A new
 * path begins at the top; a new query of the same path keeps the position.
 */
export function navigate(href: string, { replace = false }: { replace?: boolean } = {}): void {
  const before = currentLocation.value;
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  currentLocation.value = read();
  if (currentLocation.value.path !== before.path && !replace) window.scrollTo(0, 0);
}

/** A link within the console; a click with a modifier opens it as the browser does. */
export const Link = ({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) => (
  <a
    {...rest}
    href={href}
    onClick={(event) => {
      onClick?.(event);
      const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
      if (event.defaultPrevented || !isPlain) return;
      event.preventDefault();
      navigate(href);
    }}
  />
);
