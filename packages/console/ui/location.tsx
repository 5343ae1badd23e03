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

// content that is loaded after Back arrives too late for the browser's own restoration
history.scrollRestoration = 'manual';

window.addEventListener('popstate', (event: PopStateEvent) => {
  currentLocation.value = read();
  const { scrollTop = 0 } = (event.state ?? {}) as { scrollTop?: number };
  scrollWhenTall(scrollTop);
});

let scrollTimer: ReturnType<typeof setTimeout> | undefined;
window.addEventListener('scroll', () => {
  clearTimeout(scrollTimer);
  // browsers limit how often an entry of the history may change
  scrollTimer = setTimeout(keepScrollTop, 100);
});

/** Pages keep members of their own in the same state. */
const keepScrollTop = (): void => history.replaceState({ ...history.state, scrollTop: window.scrollY }, '');

const restoreMs = 2_000;

/** Scrolls to a position as soon as the page is tall enough; gives up after 2 s. */
function scrollWhenTall(top: number): void {
  const page = document.documentElement;
  const observer = new ResizeObserver(() => {
    if (page.scrollHeight - window.innerHeight < top) return;
    window.scrollTo(0, top);
    observer.disconnect();
  });
  observer.observe(document.body);
  setTimeout(() => observer.disconnect(), restoreMs);
}

/** A path with a query, as in a link. */
export function hrefOf(path: string, query: URLSearchParams = new URLSearchParams()): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

const kept = new Set<string>();

/** Makes a parameter of the address stay while the user moves between pages. */
export const keepWhileMoving = (name: string): void => void kept.add(name);

/** An address with the parameters that stay. */
function withKept(href: string): string {
  const { query } = currentLocation.value;
  const given = new URLSearchParams(href.split('?')[1] ?? '');
  const added = [...kept].filter((name) => query.has(name) && !given.has(name));
  const pairs = added.map(
    (name) =>
      `${name}=${encodeURIComponent(query.get(name) ?? '')
        .replaceAll('%3A', ':')
        .replaceAll('%2F', '/')}`,
  );
  return pairs.length === 0 ? href : `${href}${href.includes('?') ? '&' : '?'}${pairs.join('&')}`;
}

/** The page of a path, without what it has open: `/console/subscriptions` of a record's path. */
export const pagePathOf = (path: string): string => path.split('/').slice(0, 3).join('/');

interface NavigateOptions {
  readonly replace?: boolean;
  readonly keeps?: boolean;
}

/**
 * Shows another address of the console. Back returns to this one, unless `replace` is set. Another
 * page begins at the top; otherwise the position stays. The parameters that stay are added, unless
 * `keeps` is false.
 */
export function navigate(to: string, { replace = false, keeps = true }: NavigateOptions = {}): void {
  const before = currentLocation.peek();
  const href = keeps ? withKept(to) : to;
  clearTimeout(scrollTimer);
  if (!replace) keepScrollTop();
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  currentLocation.value = read();
  if (pagePathOf(currentLocation.peek().path) !== pagePathOf(before.path) && !replace) window.scrollTo(0, 0);
}

/** A link within the console; a click with a modifier opens it as the browser does. */
export const Link = ({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) => (
  <a
    {...rest}
    href={withKept(href)}
    onClick={(event) => {
      onClick?.(event);
      const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
      if (event.defaultPrevented || !isPlain) return;
      event.preventDefault();
      navigate(href);
    }}
  />
);
