import { useState } from 'preact/hooks';
import type { ClientDetails } from '../../../contract/operator/client.ts';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { strings } from '../strings.ts';
import { ClientSecret } from './client-secret.tsx';
import type { Credentials } from './credentials.ts';

const { rotation: texts } = strings.clients;

interface RotateSecretProps {
  readonly client: Pick<ClientDetails, 'client_id' | 'tenant'>;
  readonly onRotated: () => void;
  readonly onClose: () => void;
}

/** Asks how long the old secret stays valid, then shows the new one once. */
export function RotateSecret({ client: { client_id, tenant }, onRotated, onClose }: RotateSecretProps) {
  const [rotated, setRotated] = useState<Credentials>();
  if (rotated !== undefined) return <ClientSecret title={texts.done} credentials={rotated} onClose={onClose} />;
  return (
    <OperationDialog
      operation="rotateClient"
      params={{ client_id }}
      title={texts.title}
      submit={texts.submit}
      rows={{
        overlap_hours: { label: texts.overlap, hint: texts.overlapHint, isRequired: true },
        revoke_tokens: { label: texts.revokeTokens },
      }}
      onDone={({ client_secret }) => {
        setRotated({ client_id, client_secret, tenant });
        onRotated();
      }}
      onClose={onClose}
    >
      <p>{texts.effect}</p>
    </OperationDialog>
  );
}
