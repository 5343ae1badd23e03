import { useState } from 'preact/hooks';
import { type OperatorScope, operatorScopes } from '../../../contract/oauth/grant.ts';
import type { CreatedOperator } from '../../../contract/operator/token.ts';
import { TextField } from '../../ui/field.tsx';
import { call } from '../call.ts';
import { CheckboxGroup } from '../parts/checkbox-group.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { hasScope } from '../parts/permission.ts';
import { SecretDialog } from '../parts/secret-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';

const { operators: texts } = strings;

interface CreateOperatorProps {
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

/** Creates a token for an operator, and shows it once. */
export function CreateOperator({ onCreated, onClose }: CreateOperatorProps) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [scopes, setScopes] = useState<readonly OperatorScope[]>(['operator:read']);
  const [ownToken, setOwnToken] = useState('');
  const [created, setCreated] = useState<CreatedOperator>();
  const create = useAction(
    async (
      idempotencyKey,
      body: { name: string; scopes: OperatorScope[]; expires_days?: number; current_token: string },
    ) => {
      setCreated(await call('createOperator', { body, idempotencyKey }));
      onCreated();
    },
  );
  if (created !== undefined)
    return (
      <SecretDialog
        title={texts.createdTitle}
        owner={[texts.name, created.name]}
        what={texts.token}
        secret={created.token}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title={texts.create}
      submit={texts.create}
      isBusy={create.isBusy}
      error={create.error}
      isComplete={name.trim() !== '' && scopes.length > 0 && ownToken !== ''}
      onSubmit={() =>
        void create.run({
          name: name.trim(),
          scopes: [...scopes],
          ...(days !== '' && { expires_days: Number(days) }),
          current_token: ownToken,
        })
      }
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
        autocomplete="off"
        required
      />
      <CheckboxGroup
        legend={strings.scopes}
        options={operatorScopes.map((value) => ({
          value,
          label: texts.scopeWords[value],
          disabledReason: hasScope(value) ? undefined : texts.notOwnScope,
        }))}
        chosen={scopes}
        onChange={setScopes}
      />
      <TextField
        type="number"
        label={texts.days}
        hint={texts.daysHint}
        min={1}
        max={3650}
        value={days}
        onInput={({ currentTarget }) => setDays(currentTarget.value)}
      />
      <TextField
        type="password"
        label={texts.ownToken}
        hint={texts.ownTokenHint}
        value={ownToken}
        onInput={({ currentTarget }) => setOwnToken(currentTarget.value)}
        autocomplete="current-password"
        required
      />
    </FormDialog>
  );
}
