import { useState } from 'preact/hooks';
import {
  scopes as allScopes,
  type GrantType,
  grantTypes,
  refreshTokenUses,
  type Scope,
} from '../../../contract/oauth/grant.ts';
import type { ClientDetails } from '../../../contract/operator/client.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { call } from '../call.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';
import { GrantChoice, ScopeChoice } from './client-choices.tsx';

const { clients: texts } = strings;

interface EditClientProps {
  readonly client: ClientDetails;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Changes the name, grants, scopes, use of refresh tokens and quota of a client. */
export function EditClient({ client, onSaved, onClose }: EditClientProps) {
  const [grants, setGrants] = useState<readonly GrantType[]>(grantTypes.filter((each) => client.grants.includes(each)));
  const [scopes, setScopes] = useState<readonly Scope[]>(allScopes.filter((each) => client.scopes.includes(each)));
  const [name, setName] = useState(client.name ?? '');
  const [use, setUse] = useState<string>(client.refresh_token_use ?? '');
  const [quota, setQuota] = useState(client.rate_limit_per_minute?.toString() ?? '');
  const save = useAction(async () => {
    const body = {
      name: name.trim() === '' ? null : name.trim(),
      ...(!client.external && { grants: [...grants], scopes: [...scopes] }),
      refresh_token_use: refreshTokenUses.find((each) => each === use) ?? null,
      rate_limit_per_minute: quota === '' ? null : Number(quota),
    };
    await call('updateClient', { params: { client_id: client.client_id }, body });
    onSaved();
    onClose();
  });
  return (
    <FormDialog
      title={texts.editTitle}
      submit={texts.save}
      isBusy={save.isBusy}
      error={save.error}
      isComplete={client.external || (grants.length > 0 && scopes.length > 0)}
      onSubmit={() => void save.run()}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        value={name}
        maxLength={100}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
        autocomplete="off"
      />
      {!client.external && <GrantChoice chosen={grants} onChange={setGrants} />}
      {!client.external && <ScopeChoice chosen={scopes} onChange={setScopes} />}
      <Select
        label={texts.refreshTokenUse}
        options={[
          { value: '', label: texts.refreshTokenUses.default },
          ...refreshTokenUses.map((value) => ({ value, label: texts.refreshTokenUses[value] })),
        ]}
        value={use}
        onChange={({ currentTarget }) => setUse(currentTarget.value)}
      />
      <TextField
        type="number"
        label={texts.quota}
        hint={texts.quotaHint}
        min={0}
        max={1_000_000}
        value={quota}
        onInput={({ currentTarget }) => setQuota(currentTarget.value)}
      />
    </FormDialog>
  );
}
