import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import type { IconNode } from '../../ui/icons.ts';
import { type Permission, refusalOf } from './permission.ts';

export interface ActionButtonProps {
  /** The operation that it calls. */
  readonly permission: Permission;
  readonly variant?: 'primary' | 'secondary' | 'quiet' | 'danger';
  readonly icon?: IconNode;
  readonly busy?: boolean;
  readonly disabled?: boolean;
  readonly type?: 'button' | 'submit';
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}

/** A button that is disabled, and says why, if the operator's token lacks the scope. */
export function ActionButton({ permission, disabled = false, ...button }: ActionButtonProps) {
  const id = useId();
  const refusal = refusalOf(permission);
  if (refusal === undefined) return <Button {...button} disabled={disabled} />;
  return (
    <span class="refused-action" title={refusal}>
      <Button {...button} disabled aria-describedby={id} />
      <span id={id} class="visually-hidden">
        {refusal}
      </span>
    </span>
  );
}
