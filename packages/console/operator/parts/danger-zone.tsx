import type { ComponentChildren } from 'preact';
import { Card } from '../../ui/card.tsx';
import { Trash2 } from '../../ui/icons.ts';
import { DialogButton } from './dialog-button.tsx';
import type { Permission } from './permission.ts';

/** What cannot be undone, folded at the end of a page. */
export const DangerZone = ({ children }: { children: ComponentChildren }) => (
  <details class="danger-zone">
    <summary>Danger zone: what cannot be undone</summary>
    <div class="columns">{children}</div>
  </details>
);

interface DestructionProps {
  readonly permission: Permission;
  /** What its button does. */
  readonly title: string;
  readonly text: string;
  readonly dialog: (close: () => void) => ComponentChildren;
  readonly children?: ComponentChildren;
}

/** An action of the danger zone: what it does, and the button of its dialog. */
export const Destruction = ({ permission, title, text, dialog, children }: DestructionProps) => (
  <Card title={title}>
    <div class="stack">
      <p>{text}</p>
      {children}
      <DialogButton permission={permission} variant="danger" icon={Trash2} dialog={dialog}>
        {title}
      </DialogButton>
    </div>
  </Card>
);
