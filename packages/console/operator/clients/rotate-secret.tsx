import { useState } from 'preact/hooks';
import type { ClientDetails } from '../../../contract/operator/client.ts';
import { Checkbox, TextField } from '../../ui/field.tsx';
import { call } from '../call.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { SecretDialog } from '../parts/secret-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';
import { HandOver } from './hand-over.tsx';

const { rotation: texts } = strings.clients;

interface RotateSecretProps {
  readonly client: Pick<ClientDetails, 'client_id' | 'tenant'>;
  readonly onRotated: () => void;
  readonly onClose: () => void;
}

/** Asks how long the old secret stays valid, then shows the new one once. */
export function RotateSecret({ client: { client_id: clientId, tenant }, onRotated, onClose }: RotateSecretProps) {
  const [hours, setHours] = useState('24');
  const [revokesTokens, setRevokesTokens] = useState(false);
  const [secret, setSecret] = useState<string>();
  const rotate = useAction(async (idempotencyKey, overlapHours: number, revokeTokens: boolean) => {
    const body = { overlap_hours: overlapHours, revoke_tokens: revokeTokens };
    const rotated = await call('rotateClient', { params: { client_id: clientId }, body, idempotencyKey });
    setSecret(rotated.client_secret);
    onRotated();
  });
  if (secret !== undefined)
    return (
      <SecretDialog
        title={texts.done}
        owner={[strings.clients.id, clientId]}
        what={strings.clients.secret}
        secret={secret}
        onClose={onClose}
      >
        <HandOver credentials={{ client_id: clientId, client_secret: secret, tenant }} />
      </SecretDialog>
    );
  return (
    <FormDialog
      title={texts.title}
      submit={texts.submit}
      isBusy={rotate.isBusy}
      error={rotate.error}
      onSubmit={() => void rotate.run(Number(hours), revokesTokens)}
      onClose={onClose}
    >
      <p>{texts.effect}</p>
      <TextField
        type="number"
        label={texts.overlap}
        hint={texts.overlapHint}
        min={0}
        max={9_999}
        step="any"
        required
        value={hours}
        onInput={({ currentTarget }) => setHours(currentTarget.value)}
      />
      <Checkbox
        label={texts.revokeTokens}
        checked={revokesTokens}
        onChange={({ currentTarget }) => setRevokesTokens(currentTarget.checked)}
      />
    </FormDialog>
  );
}
