import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { currentLocation } from './location.tsx';

const named = signal<{ readonly path: string; readonly title: string } | undefined>(undefined);

/** Gives the page of one thing, such as a tenant, the title of that thing. */
export function usePageTitle(title: string): void {
  const { path } = currentLocation.value;
  useLayoutEffect(() => {
    named.value = { path, title };
  }, [path, title]);
}

/** The title of the thing that the current address shows, if it has one. */
export function titleOfThing(): string | undefined {
  const { value } = named;
  return value?.path === currentLocation.value.path ? value.title : undefined;
}
