import { signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

const message = signal('');
const shown = signal<string | undefined>(undefined);

/** Announces a sentence to screen readers, after the one that they are reading. */
export function announce(text: string): void {
  message.value = '';
  // a repeated sentence is announced only if the region changes
  requestAnimationFrame(() => {
    message.value = text;
  });
}

const shownMs = 4_000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Announces a sentence that nothing else on the page says, and shows it for 4 s. */
export function announceShown(text: string): void {
  announce(text);
  clearTimeout(timer);
  shown.value = text;
  timer = setTimeout(() => {
    shown.value = undefined;
  }, shownMs);
}

/** Drawn once per user, so that nobody hears the announcements of the previous user. */
export function LiveRegion() {
  useState(() => {
    message.value = '';
    shown.value = undefined;
  });
  return (
    <>
      <div class="visually-hidden" role="status" aria-live="polite">
        {message}
      </div>
      {shown.value !== undefined && <Shown text={shown.value} />}
    </>
  );
}

/** Over everything, dialogs too. */
function Shown({ text }: { readonly text: string }) {
  const element = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    // the last one that is opened is on top
    element.current?.hidePopover();
    element.current?.showPopover();
  }, [text]);
  return (
    <p ref={element} class="shown-message raised small no-print" popover="manual" aria-hidden="true">
      {text}
    </p>
  );
}
