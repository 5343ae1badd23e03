import { signal } from '@preact/signals';
import { session } from '../session/session.ts';
import { type SavedView, ViewStore } from './view-store.ts';

/** The views of the signed-in client. */
export const savedViews = signal<readonly SavedView[]>([]);

/** Reads the views of the signed-in client again, after a change or by another tab. */
export function refreshViews(): void {
  savedViews.value = store()?.read() ?? [];
}

export function saveView(view: SavedView): void {
  store()?.save(view);
  refreshViews();
}

export function removeView(name: string): void {
  store()?.remove(name);
  refreshViews();
}

function store(): ViewStore | undefined {
  const { value } = session.state;
  if (!('session' in value)) return undefined;
  return new ViewStore(window.localStorage, value.session.tenant, value.session.client_id);
}

session.onLeave(() => {
  savedViews.value = [];
});
