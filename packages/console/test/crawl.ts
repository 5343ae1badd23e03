// What the crawl of the consoles runs in the page. Each function stands alone: Playwright sends its
// source.

/** A control that the crawl can activate. */
export interface Control {
  /** Its place, role and name, without numbers and ids of clients. */
  readonly key: string;
  readonly name: string;
  /** Whether it is not the first choice of its list. */
  readonly isFurtherChoice: boolean;
  /** Whether it is outside of the page's main part, and so the same on all pages. */
  readonly isOfFrame: boolean;
}

interface CountedWindow {
  requests: number;
  calmFrames?: number;
  lastControls: Map<string, Element>;
  /** The parts that have closed and left the focus on nothing that is visible. */
  dropped: string[];
}

/**
 * Notes whether each popover and dialog, once closed, has left the focus on something visible: in
 * the first task after it, which no key of the user can precede.
 */
export function watchClosings(): void {
  const counted = window as typeof window & CountedWindow;
  counted.dropped = [];
  document.addEventListener(
    'beforetoggle',
    ({ target, newState }) => {
      if (newState !== 'closed') return;
      setTimeout(() => {
        const { activeElement } = document;
        if (activeElement !== document.body && activeElement?.checkVisibility() === true) return;
        counted.dropped.push((target as Element).textContent.slice(0, 60));
      });
    },
    { capture: true },
  );
}

/** What `watchClosings` has noted since the last call. */
export const takeDropped = (): string[] => (window as typeof window & CountedWindow).dropped.splice(0);

/** Counts the requests in progress. */
export function countRequests(): void {
  const counted = window as typeof window & CountedWindow;
  counted.requests = 0;
  const send = window.fetch;
  window.fetch = async (...request) => {
    counted.requests += 1;
    try {
      return await send(...request);
    } finally {
      setTimeout(() => {
        counted.requests -= 1;
      });
    }
  };
}

/**
 * Whether nothing has loaded for three frames: what one response shows may send the next request
 * only once it is drawn. Asked once per frame.
 */
export function isSettled(): boolean {
  const counted = window as typeof window & CountedWindow;
  const isDrawn = document.querySelector('main, dialog') !== null;
  const isLoading = counted.requests > 0 || document.querySelector('[aria-busy=true]:not(button), .skeleton') !== null;
  counted.calmFrames = isDrawn && !isLoading ? (counted.calmFrames ?? 0) + 1 : 0;
  if (counted.calmFrames < 3) return false;
  counted.calmFrames = 0;
  return true;
}

/** Whether a dialog or a popover is open. */
export const hasOverlay = (): boolean => document.querySelector('dialog[open], :popover-open') !== null;

/** Closes dialogs and popovers as Escape does, instead of loading the page again. */
export async function closeOverlays(): Promise<void> {
  for (const open of document.querySelectorAll<HTMLElement>(':popover-open')) open.hidePopover();
  for (const open of document.querySelectorAll('dialog[open]'))
    open.dispatchEvent(new Event('cancel', { cancelable: true }));
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** Shows an address of the console as Back does, instead of loading it. */
export async function goTo(url: string): Promise<void> {
  history.pushState(null, '', url);
  dispatchEvent(new PopStateEvent('popstate'));
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** The controls that can be used now: those of the topmost dialog or popover, if any. */
export function listControls(): Control[] {
  const roles = ['button', 'link', 'menuitem', 'menuitemradio', 'option', 'tab', 'checkbox', 'radio'];
  const native = ['button', 'a[href]', 'summary', 'select', 'input:not([type=file])', 'textarea'];
  const selector = [...native, ...roles.map((role) => `[role=${role}]`)].join();
  const root = [...document.querySelectorAll('dialog[open], :popover-open')].at(-1) ?? document.body;
  const controls = new Map<string, Element>();
  const listed: Control[] = [];
  for (const element of root.querySelectorAll(selector)) {
    if (!element.checkVisibility() || element.matches(':disabled, [aria-disabled=true]')) continue;
    const href = element.getAttribute('href');
    if (href !== null && (!href.startsWith('/console') || element.matches('[download], [target]'))) continue;
    const main = element.closest('main');
    const row = element.closest('tr, li, svg a, .check-line');
    const before = row?.previousElementSibling;
    // the rows of one kind have the same controls
    const isFurther =
      before?.matches(row?.tagName ?? '') && before.getAttribute('class') === row?.getAttribute('class');
    if (main !== null && isFurther === true) continue;
    const isOfFrame = main === null && root === document.body;
    const words = (element.getAttribute('aria-label') ?? element.textContent).trim();
    const text = words.replaceAll(/sr-[\da-f]{24}|\d[\d,. …]*/g, 'N');
    // a control of the frame ends with its value, as in "Theme: Dark"
    const name = isOfFrame ? text.replace(/:.*/s, '') : text;
    const key = `${element.role ?? element.tagName} ${name.slice(0, 60)}`;
    if (controls.has(key)) continue;
    controls.set(key, element);
    const isFurtherChoice = element.role === 'option' && listed.some(({ key: other }) => other.startsWith('option '));
    listed.push({ key, name, isFurtherChoice, isOfFrame });
  }
  (window as typeof window & CountedWindow).lastControls = controls;
  return listed;
}

/** What a control is used by. In Safari, a click on a button moves the focus to nothing. */
export type Hand = 'key' | 'mouse of Safari';

/** Uses a control that `listControls` has listed; `false` if there was none. */
export async function activate({ key, by }: { readonly key: string; readonly by: Hand }): Promise<boolean> {
  const element = (window as typeof window & CountedWindow).lastControls.get(key);
  if (!(element instanceof HTMLElement || element instanceof SVGElement)) return false;
  if (by === 'key') element.focus();
  else if (element.dispatchEvent(new MouseEvent('mousedown', { bubbles: true, cancelable: true })))
    (document.activeElement as HTMLElement).blur();
  if (element instanceof HTMLSelectElement) {
    element.selectedIndex = (element.selectedIndex + 1) % element.options.length;
    element.dispatchEvent(new Event('change', { bubbles: true }));
  } else element.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, composed: true }));
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return true;
}
