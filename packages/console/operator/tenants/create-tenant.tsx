import { useState } from 'preact/hooks';
import { TextField } from '../../ui/field.tsx';
import { navigate } from '../../ui/location.tsx';
import { call } from '../call.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { tenantPath } from '../parts/paths.ts';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';

const { tenants: texts } = strings;

/** Asks for the name of a new tenant, creates it and opens its page. */
export function CreateTenant({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const { run, isBusy, error } = useAction(async (idempotencyKey, tenant: string) => {
    await call('createTenant', { body: { tenant }, idempotencyKey });
    navigate(tenantPath(tenant));
  });
  return (
    <FormDialog
      title={texts.create}
      submit={texts.create}
      isBusy={isBusy}
      error={error}
      onSubmit={() => void run(name.trim())}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        hint={texts.nameRule}
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
        required
      />
    </FormDialog>
  );
}
