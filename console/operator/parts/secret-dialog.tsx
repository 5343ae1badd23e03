import { useState } from 'preact/hooks';
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
  readonly onClose: () => void;
}

/** Shows a secret once. It closes only when the reader says that the secret is stored. */
export function SecretDialog({ title, owner: [label, value], what, secret, onClose }: SecretDialogProps) {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog title={title}>
      <div class="stack">
        <p>{strings.secret.onlyOnce}</p>
        <div class="secret-owner">
          <span class="soft">{label}</span> <code>{value}</code>
          <CopyButton text={value} what={label.toLowerCase()} />
        </div>
        <div class="secret">
          <textarea
            class="control"
            aria-label={what}
            rows={2}
            readOnly
            spellcheck={false}
            value={secret}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
          <CopyButton text={secret} what={what.toLowerCase()} />
        </div>
        <Checkbox
          label={strings.secret.stored}
          checked={isStored}
          onChange={({ currentTarget }) => setStored(currentTarget.checked)}
        />
      </div>
      <div class="dialog-actions">
        <Button variant="primary" disabled={!isStored} onClick={onClose}>
          {strings.secret.done}
        </Button>
      </div>
    </Dialog>
  );
}
