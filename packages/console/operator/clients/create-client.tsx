import { useState } from 'preact/hooks';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { strings } from '../strings.ts';
import { nameField, scopeFields } from './client-fields.ts';
import { ClientSecret } from './client-secret.tsx';
import type { Credentials } from './credentials.ts';

const { clients: texts } = strings;

interface CreateClientProps {
  /** The tenant of the page; without it, the form asks for one. */
  readonly tenant: string | undefined;
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

/** Asks for the properties of a new client, then shows its secret once. */
export function CreateClient({ tenant, onCreated, onClose }: CreateClientProps) {
  const [created, setCreated] = useState<Credentials>();
  if (created !== undefined) return <ClientSecret title="Client created" credentials={created} onClose={onClose} />;
  return (
    <OperationDialog
      operation="createClient"
      title={texts.create}
      submit={texts.create}
      initial={{ grants: ['client_credentials', 'refresh_token'], scopes: ['subscription:read'] }}
      {...(tenant !== undefined && { fixed: { tenant } })}
      rows={({ external }) => ({
        ...(tenant === undefined && { tenant: { label: strings.tenant } }),
        name: nameField,
        client_id:
          external === true
            ? { label: texts.id, hint: 'The id that the identity provider uses', isRequired: true }
            : { label: texts.id, hint: 'Generated if empty' },
        ...(external !== true && scopeFields),
        external: { label: 'An external identity provider issues its tokens' },
      })}
      onDone={({ client_secret, client_id }, { tenant: owner }) => {
        onCreated();
        if (client_secret === undefined) onClose();
        else setCreated({ client_id, client_secret, tenant: owner });
      }}
      onClose={onClose}
    />
  );
}
