import { useState } from 'preact/hooks';
import { operatorScopes } from '../../../contract/oauth/grant.ts';
import type { CreatedOperator } from '../../../contract/operator/token.ts';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { hasScope } from '../parts/permission.ts';
import { SecretDialog } from '../parts/secret-dialog.tsx';
import { strings } from '../strings.ts';

const { operators: texts } = strings;

interface CreateOperatorProps {
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

/** Creates a token for an operator, and shows it once. */
export function CreateOperator({ onCreated, onClose }: CreateOperatorProps) {
  const [created, setCreated] = useState<CreatedOperator>();
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
    <OperationDialog
      operation="createOperator"
      title={texts.create}
      submit={texts.create}
      initial={{ scopes: ['operator:read'], expires_days: '90' }}
      rows={{
        name: { label: texts.name, hint: texts.nameHint },
        scopes: {
          label: strings.scopes,
          words: texts.scopeWords,
          refusalOf: (value) =>
            operatorScopes.some((scope) => scope === value && hasScope(scope)) ? undefined : texts.notOwnScope,
        },
        expires_days: { label: texts.days, hint: texts.daysHint },
        current_token: { label: texts.ownToken, hint: texts.ownTokenHint, isRequired: true },
      }}
      onDone={(operator) => {
        setCreated(operator);
        onCreated();
      }}
      onClose={onClose}
    />
  );
}
