import type { ComponentChildren } from 'preact';
import { strings } from '../strings.ts';

/** What cannot be undone, folded at the end of a page. */
export const DangerZone = ({ children }: { children: ComponentChildren }) => (
  <details class="danger-zone">
    <summary>{strings.dangerZone}</summary>
    <div class="columns">{children}</div>
  </details>
);
