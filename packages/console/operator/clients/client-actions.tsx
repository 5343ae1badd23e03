import type { ClientDetails } from '../../../contract/operator/client.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Ban, Check, KeyRound, Pencil } from '../../ui/icons.ts';
import { call } from '../call.ts';
import { ActionButton } from '../parts/action-button.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';
import { nameField, scopeFields } from './client-fields.ts';
import { RotateSecret } from './rotate-secret.tsx';

const { clients: texts } = strings;

interface ClientActionsProps {
  readonly client: ClientDetails;
  readonly onChanged: () => void;
}

/** What can be done with a client, besides deleting it. */
export function ClientActions({ client, onChanged }: ClientActionsProps) {
  const toggleId = client.disabled_at === null ? 'disableClient' : 'enableClient';
  const toggle = useAction(async () => {
    await call(toggleId, { params: { client_id: client.client_id } });
    onChanged();
  });
  return (
    <div class="stack">
      <div class="row gap-3">
        {!client.external && (
          <DialogButton
            permission="rotateClient"
            variant="primary"
            icon={KeyRound}
            dialog={(close) => <RotateSecret client={client} onRotated={onChanged} onClose={close} />}
          >
            Rotate secret
          </DialogButton>
        )}
        <DialogButton
          permission="updateClient"
          icon={Pencil}
          dialog={(close) => <EditClient client={client} onSaved={onChanged} onClose={close} />}
        >
          Edit
        </DialogButton>
        <ActionButton
          permission={toggleId}
          icon={client.disabled_at === null ? Ban : Check}
          busy={toggle.isBusy}
          onClick={() => void toggle.run()}
        >
          {client.disabled_at === null ? 'Disable' : 'Enable'}
        </ActionButton>
      </div>
      {toggle.error !== undefined && <ErrorNote error={toggle.error} />}
    </div>
  );
}

interface EditClientProps {
  readonly client: ClientDetails;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Changes the name, grants, scopes, use of refresh tokens and quota of a client. */
const EditClient = ({ client, onSaved, onClose }: EditClientProps) => (
  <OperationDialog
    operation="updateClient"
    params={{ client_id: client.client_id }}
    title="Edit client"
    submit="Save"
    initial={{
      name: client.name ?? '',
      grants: client.grants,
      scopes: client.scopes,
      refresh_token_use: client.refresh_token_use ?? '',
      rate_limit_per_minute: client.rate_limit_per_minute?.toString() ?? '',
    }}
    rows={{
      name: nameField,
      ...(!client.external && scopeFields),
      refresh_token_use: { label: texts.refreshTokenUse, words: texts.refreshTokenUses },
      rate_limit_per_minute: { label: texts.quota, hint: '0 for no limit, empty for the setting of the service' },
    }}
    onDone={() => {
      onSaved();
      onClose();
    }}
    onClose={onClose}
  />
);
