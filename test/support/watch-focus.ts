/**
 * A script for a page: keeps the role of the element that has the focus in the first task after a
 * popover opens, which no key of the user can precede, as `window.focusedRole`.
 */
export const watchFocus = `(window.focusedRole = undefined, document.addEventListener(
  'beforetoggle',
  () => setTimeout(() => { window.focusedRole = document.activeElement.role ?? document.activeElement.getAttribute('role'); }),
  { capture: true, once: true },
))`;
