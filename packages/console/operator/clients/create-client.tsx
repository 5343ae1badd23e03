import { useState } from 'preact/hooks';
import type { GrantType, Scope } from '../../../contract/oauth/grant.ts';
import type { OperatorResponse } from '../../../contract/operator/operations.ts';
import { Checkbox, TextField } from '../../ui/field.tsx';
import { call } from '../call.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { SecretDialog } from '../parts/secret-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';
import { GrantChoice, ScopeChoice } from './client-choices.tsx';
import { HandOver } from './hand-over.tsx';

const { clients: texts } = strings;

interface CreateClientProps {
  /** The tenant of the page; without it, the form asks for one. */
  readonly tenant: string | undefined;
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

/** Asks for the properties of a new client, then shows its secret once. */
export function CreateClient({ tenant, onCreated, onClose }: CreateClientProps) {
  const [created, setCreated] = useState<OperatorResponse<'createClient'>>();
  const form = useNewClient(tenant);
  const { run, isBusy, error } = useAction(async (idempotencyKey, body: ReturnType<typeof form.bodyOf>) => {
    const credentials = await call('createClient', { body, idempotencyKey });
    setCreated(credentials);
    onCreated();
    if (credentials.client_secret === undefined) onClose();
  });
  if (created?.client_secret !== undefined)
    return (
      <SecretDialog
        title={texts.createdTitle}
        owner={[texts.id, created.client_id]}
        what={texts.secret}
        secret={created.client_secret}
        onClose={onClose}
      >
        <HandOver credentials={{ ...created, client_secret: created.client_secret, tenant: form.tenant }} />
      </SecretDialog>
    );
  return (
    <FormDialog
      title={texts.create}
      submit={texts.create}
      isBusy={isBusy}
      error={error}
      isComplete={form.isComplete}
      onSubmit={() => void run(form.bodyOf())}
      onClose={onClose}
    >
      {tenant === undefined && form.tenantField}
      {form.fields}
    </FormDialog>
  );
}

/** The fields of a new client, and the body that they make. */
function useNewClient(fixedTenant: string | undefined) {
  const [tenant, setTenant] = useState(fixedTenant ?? '');
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const [grants, setGrants] = useState<readonly GrantType[]>(['client_credentials', 'refresh_token']);
  const [scopes, setScopes] = useState<readonly Scope[]>(['subscription:read']);
  const [external, setExternal] = useState(false);
  return {
    tenant,
    isComplete: tenant !== '' && (external ? id !== '' : grants.length > 0 && scopes.length > 0),
    bodyOf: () => ({
      tenant,
      ...(id !== '' && { client_id: id }),
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(external ? { external } : { grants: [...grants], scopes: [...scopes] }),
    }),
    tenantField: (
      <TextField
        label={strings.tenant}
        value={tenant}
        onInput={({ currentTarget }) => setTenant(currentTarget.value.trim())}
        autocomplete="off"
        required
      />
    ),
    fields: (
      <>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          value={name}
          maxLength={100}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
          autocomplete="off"
        />
        <TextField
          label={texts.id}
          hint={external ? texts.externalIdHint : texts.idHint}
          value={id}
          onInput={({ currentTarget }) => setId(currentTarget.value.trim())}
          autocomplete="off"
          spellcheck={false}
        />
        {!external && <GrantChoice chosen={grants} onChange={setGrants} />}
        {!external && <ScopeChoice chosen={scopes} onChange={setScopes} />}
        <Checkbox
          label={texts.externalLabel}
          checked={external}
          onChange={({ currentTarget }) => setExternal(currentTarget.checked)}
        />
      </>
    ),
  };
}
