import { useState } from 'preact/hooks';
import type { ClientDetails } from '../../../contract/operator/client.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Ban, Check, KeyRound, Pencil } from '../../ui/icons.ts';
import { call } from '../call.ts';
import { ActionButton } from '../parts/action-button.tsx';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';
import { EditClient } from './edit-client.tsx';
import { RotateSecret } from './rotate-secret.tsx';

const { clients: texts } = strings;

interface ClientActionsProps {
  readonly client: ClientDetails;
  readonly onChanged: () => void;
}

/** What can be done with a client, besides deleting it. */
export function ClientActions({ client, onChanged }: ClientActionsProps) {
  const [open, setOpen] = useState<'rotate' | 'edit'>();
  const close = () => setOpen(undefined);
  const isEnabled = client.disabled_at === null;
  const toggle = useAction(async (idempotencyKey) => {
    const params = { client_id: client.client_id };
    await call(isEnabled ? 'disableClient' : 'enableClient', { params, idempotencyKey });
    onChanged();
  });
  return (
    <div class="stack">
      <div class="actions">
        {!client.external && (
          <ActionButton permission="rotateClient" variant="primary" icon={KeyRound} onClick={() => setOpen('rotate')}>
            {texts.rotate}
          </ActionButton>
        )}
        <ActionButton permission="updateClient" icon={Pencil} onClick={() => setOpen('edit')}>
          {texts.edit}
        </ActionButton>
        <ActionButton
          permission={isEnabled ? 'disableClient' : 'enableClient'}
          icon={isEnabled ? Ban : Check}
          busy={toggle.isBusy}
          onClick={() => void toggle.run()}
        >
          {isEnabled ? texts.disable : texts.enable}
        </ActionButton>
      </div>
      {toggle.error !== undefined && <ErrorNote error={toggle.error} />}
      {open === 'rotate' && <RotateSecret client={client} onRotated={onChanged} onClose={close} />}
      {open === 'edit' && <EditClient client={client} onSaved={onChanged} onClose={close} />}
    </div>
  );
}
