import { useState } from 'preact/hooks';
import type { ClientDetails } from '../../../contract/operator/client.ts';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { ClientSecret } from './client-secret.tsx';
import type { Credentials } from './credentials.ts';

interface RotateSecretProps {
  readonly client: Pick<ClientDetails, 'client_id' | 'tenant'>;
  readonly onRotated: () => void;
  readonly onClose: () => void;
}

/** Asks how long the old secret stays valid, then shows the new one once. */
export function RotateSecret({ client: { client_id, tenant }, onRotated, onClose }: RotateSecretProps) {
  const [rotated, setRotated] = useState<Credentials>();
  if (rotated !== undefined) return <ClientSecret title="New secret" credentials={rotated} onClose={onClose} />;
  return (
    <OperationDialog
      operation="rotateClient"
      params={{ client_id }}
      title="Rotate the secret"
      submit="Rotate"
      rows={{
        overlap_hours: { label: 'Overlap in hours', hint: '0 revokes the old secret immediately', isRequired: true },
        revoke_tokens: { label: 'Revoke all current tokens of the client' },
      }}
      onDone={({ client_secret }) => {
        setRotated({ client_id, client_secret, tenant });
        onRotated();
      }}
      onClose={onClose}
    >
      <p>
        The client gets a new secret. The old one stays valid for the overlap, so you can replace it without an outage.
      </p>
    </OperationDialog>
  );
}
