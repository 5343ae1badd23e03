import { pagePathOf } from './location.tsx';

/** What Tab stops at. */
const stops = ['a[href]', 'button', 'input', 'select', 'textarea', 'summary', '[tabindex]']
  .map((selector) => `${selector}:not(:disabled, [tabindex="-1"])`)
  .join();

type Stop = HTMLElement | SVGElement;

const isStop = (node: Node): node is Stop => node instanceof Element && node.matches(stops) && node.checkVisibility();

/** The stops in a part of the page, itself included, in their order. */
const stopsIn = (node: Node): Stop[] =>
  node instanceof Element ? [node, ...node.querySelectorAll(stops)].filter(isStop) : [];

const nameOf = (element: Element): string => (element.getAttribute('aria-label') ?? element.textContent).trim();

/**
 * Keeps the focus in the page: when the element that has it is removed or disabled, focus goes to
 * what is at its place now, or to the title if the page is another one. Otherwise the browser drops
 * it, and the next Tab begins at the top. Returns a function that stops it.
 */
export function keepFocus(): () => void {
  let last: { readonly element: Element; readonly page: string } | undefined;
  const stop = new AbortController();
  const { signal } = stop;
  const note = (element: Element | undefined): void => {
    last = element && { element, page: currentPage() };
  };
  document.addEventListener('focusin', ({ target }) => target instanceof Element && note(target), { signal });
  // a click beside all controls takes the focus away on purpose
  const onPress = ({ target }: PointerEvent): void => {
    if (target instanceof Element && target.closest(stops) === null) note(undefined);
  };
  document.addEventListener('pointerdown', onPress, { signal, capture: true });
  const observer = new MutationObserver((records) => {
    if (last === undefined || !isLost()) return;
    const { element, page } = last;
    if (element.isConnected && !element.matches(':disabled')) return;
    const successor = page === currentPage() ? successorOf(element, records) : undefined;
    (successor ?? fallback())?.focus({ preventScroll: true });
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
  return () => {
    stop.abort();
    observer.disconnect();
  };
}

const currentPage = (): string => pagePathOf(window.location.pathname);

/** Whether nothing that can be used has the focus. */
const isLost = (): boolean =>
  document.activeElement === null ||
  document.activeElement === document.body ||
  document.activeElement.matches(':disabled');

/** The title of the page; of a page without one, such as that of the sign-in, its first stop. */
const fallback = (): Stop | undefined => document.getElementById('title') ?? stopsIn(document.body)[0];

/** Its namesake in what came instead, or the first of that, or the nearest neighbour. */
function successorOf(element: Element, records: readonly MutationRecord[]): Stop | undefined {
  const removal = records.findLast(
    ({ target, removedNodes }) => target.isConnected && [...removedNodes].some((node) => node.contains(element)),
  );
  const scope = removal?.target ?? element.parentElement;
  if (scope === null) return undefined;
  const added = records.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => scope.contains(node));
  const title = document.getElementById('title');
  // a whole page, as after the sign-in
  if (added.some((node) => node.contains(title))) return undefined;
  const stopsAdded = added.flatMap(stopsIn);
  return (
    stopsAdded.find((each) => nameOf(each) === nameOf(element)) ??
    stopsAdded[0] ??
    nearestStop(scope, removal ?? element)
  );
}

type Gap = Pick<MutationRecord, 'previousSibling' | 'nextSibling'>;

/** The stop nearest to a gap in a node, or in what contains it, up to its page or dialog. */
function nearestStop(scope: Node, gap: Gap): Stop | undefined {
  const { parentElement } = scope;
  const found = neighbour(gap.nextSibling, 'nextSibling') ?? neighbour(gap.previousSibling, 'previousSibling');
  const isWhole = parentElement === null || (scope instanceof Element && scope.matches('main, dialog'));
  return found ?? (isWhole ? undefined : nearestStop(parentElement, scope));
}

/** The first stop from a node on, in one direction. */
function neighbour(from: Node | null, direction: keyof Gap): Stop | undefined {
  for (let node = from; node !== null; node = node[direction]) {
    const found = stopsIn(node).at(direction === 'nextSibling' ? 0 : -1);
    if (found !== undefined) return found;
  }
  return undefined;
}
