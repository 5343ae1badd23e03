import { useState } from 'preact/hooks';
import type { Tenant } from '../../../contract/operator/tenant.ts';
import { Card } from '../../ui/card.tsx';
import { Trash2 } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import { navigate } from '../../ui/location.tsx';
import { call } from '../call.ts';
import { ActionButton } from '../parts/action-button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';

const { deletion: texts } = strings.tenants;

/** Deletes a tenant once its name is typed. */
export function DeleteTenant({ tenant: { tenant, records } }: { tenant: Tenant }) {
  const [isAsking, setAsking] = useState(false);
  const { run, isBusy, error } = useAction(async () => {
    const { clients } = await call('deleteTenant', { params: { tenant } });
    announce(texts.done(tenant, clients));
    navigate('/console/tenants');
  });
  return (
    <Card title={texts.title}>
      <div class="stack">
        <p>{texts.hint}</p>
        <ActionButton permission="deleteTenant" variant="danger" icon={Trash2} onClick={() => setAsking(true)}>
          {texts.button}
        </ActionButton>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={texts.question(tenant)}
          typed={tenant}
          confirmLabel={strings.deleteForGood}
          isBusy={isBusy}
          error={error}
          onConfirm={() => void run()}
          onClose={() => setAsking(false)}
        >
          <p>{texts.effect(records)}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}
