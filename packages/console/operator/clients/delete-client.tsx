import { useState } from 'preact/hooks';
import type { ClientDetails } from '../../../contract/operator/client.ts';
import { Card } from '../../ui/card.tsx';
import { Trash2 } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import { navigate } from '../../ui/location.tsx';
import { call } from '../call.ts';
import { ActionButton } from '../parts/action-button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { tenantPath } from '../parts/paths.ts';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';

const { deletion: texts } = strings.clients;

/** Deletes a client once its id is typed, and opens the page of its tenant. */
export function DeleteClient({ client: { client_id: id, tenant } }: { client: ClientDetails }) {
  const [isAsking, setAsking] = useState(false);
  const { run, isBusy, error } = useAction(async () => {
    await call('deleteClient', { params: { client_id: id } });
    announce(texts.done(id));
    navigate(tenantPath(tenant));
  });
  return (
    <Card title={texts.title}>
      <div class="stack">
        <p>{texts.effect}</p>
        <ActionButton permission="deleteClient" variant="danger" icon={Trash2} onClick={() => setAsking(true)}>
          {texts.button}
        </ActionButton>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={texts.question(id)}
          typed={id}
          confirmLabel={strings.deleteForGood}
          isBusy={isBusy}
          error={error}
          onConfirm={() => void run()}
          onClose={() => setAsking(false)}
        >
          <p>{texts.effect}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}
