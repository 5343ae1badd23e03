/**
 * Focuses an element as soon as it is drawn, before the next key arrives: at once if its popover or
 * dialog is already shown, otherwise the browser does so when it shows it.
 */
export function takeFocus(element: HTMLElement | null | undefined): void {
  if (element === null || element === undefined) return;
  element.autofocus = true;
  element.focus({ preventScroll: true });
}
