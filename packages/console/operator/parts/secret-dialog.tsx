import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { strings } from '../strings.ts';

interface SecretDialogProps {
  readonly title: string;
  /** Which client or token it belongs to. */
  readonly owner: readonly [label: string, value: string];
  /** What it is: "Client secret". */
  readonly what: string;
  readonly secret: string;
  /** Other forms of it. */
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}

/** Shows a secret once. It closes only when the reader says that the secret is stored. */
export function SecretDialog({ title, owner: [label, value], what, secret, children, onClose }: SecretDialogProps) {
  const id = useId();
  const [isStored, setStored] = useState(false);
  return (
    <Dialog title={title}>
      <div class="stack">
        <p>{strings.secret.onlyOnce(what)}</p>
        <div class="secret-owner">
          <span>
            <span class="soft">{label}</span> <code>{value}</code>
          </span>
          <CopyButton text={value} what={label.toLowerCase()} />
        </div>
        <div class="secret">
          <label class="label" for={id}>
            {what}
          </label>
          <textarea
            id={id}
            class="control"
            rows={2}
            readOnly
            spellcheck={false}
            value={secret}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
          <CopyButton text={secret} what={what.toLowerCase()} />
        </div>
        {children}
        <Checkbox
          label="I have stored it"
          checked={isStored}
          onChange={({ currentTarget }) => setStored(currentTarget.checked)}
        />
      </div>
      <div class="dialog-actions row">
        <Button variant="primary" disabled={!isStored} onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
