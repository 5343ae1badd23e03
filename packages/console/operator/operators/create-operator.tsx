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
        title="Token created"
        owner={[texts.name, created.name]}
        what="Token"
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
        name: { label: texts.name, hint: 'Appears in the audit log' },
        scopes: {
          label: strings.scopes,
          words: texts.scopeWords,
          refusalOf: (value) =>
            operatorScopes.some((scope) => scope === value && hasScope(scope))
              ? undefined
              : 'Your token does not have this scope',
        },
        expires_days: { label: 'Valid for days', hint: 'Empty: as long as your own token' },
        current_token: {
          label: 'Your own token',
          hint: 'The token you signed in with. A stolen session alone cannot create tokens.',
          isRequired: true,
        },
      }}
      onDone={(operator) => {
        setCreated(operator);
        onCreated();
      }}
      onClose={onClose}
    />
  );
}
