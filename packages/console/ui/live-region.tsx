import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';

const message = signal('');

/** Announces a sentence to screen readers, after the one that they are reading. */
export function announce(text: string): void {
  message.value = '';
  // a repeated sentence is announced only if the region changes
  requestAnimationFrame(() => {
    message.value = text;
  });
}

/** Drawn once per user, so that nobody hears the announcements of the previous user. */
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
