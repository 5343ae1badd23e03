import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';

const message = signal('');

/** Has screen readers say a sentence, once what they say now has ended. */
export function announce(text: string): void {
  message.value = '';
  // the same sentence again is said again: the region must change
  requestAnimationFrame(() => {
    message.value = text;
  });
}

/** Drawn once, by the frame of a user, who hears nothing of the one before. */
export function LiveRegion() {
  useState(() => {
    message.value = '';
  });
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {message}
    </div>
  );
}
