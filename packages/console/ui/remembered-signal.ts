import { effect, type Signal, signal } from '@preact/signals';

/**
 * A value that the browser remembers as a text; if storage is blocked, it lasts until the page is
 * closed.
 *
 * @param read the value of a text, which may be anything, or absent
 * @param write the text of a value
 */
export function rememberedSignal<Value>(
  key: string,
  read: (text?: string | null) => Value,
  write: (value: Value) => string,
): Signal<Value> {
  const value = signal(read(unlessBlocked(() => localStorage.getItem(key))));
  effect(() => unlessBlocked(() => localStorage.setItem(key, write(value.value))));
  return value;
}

function unlessBlocked<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return; // storage is blocked
  }
}
