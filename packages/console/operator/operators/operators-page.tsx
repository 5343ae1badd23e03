import { useState } from 'preact/hooks';
import type { Operator } from '../../../contract/operator/token.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { Plus, ShieldCheck } from '../../ui/icons.ts';
import { call } from '../call.ts';
import { ActionButton } from '../parts/action-button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import type { Column } from '../parts/data-table.tsx';
import { ListView } from '../parts/list-view.tsx';
import { StateLabel } from '../parts/state-label.tsx';
import { useAction } from '../parts/use-action.ts';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { CreateOperator } from './create-operator.tsx';

const { operators: texts } = strings;

/** The operators' tokens. */
export function OperatorsPage() {
  const list = useList('listOperators');
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Operator>();
  const { run, isBusy, error } = useAction(async (idempotencyKey, id: string) => {
    await call('revokeOperator', { params: { operator_id: id }, idempotencyKey });
    setRevoking(undefined);
    list.reload();
  });
  return (
    <>
      <div class="toolbar">
        <p class="soft">{texts.intro}</p>
        <ActionButton permission="createOperator" variant="primary" icon={Plus} onClick={() => setCreating(true)}>
          {texts.create}
        </ActionButton>
      </div>
      <ListView
        label={texts.title}
        list={list}
        columns={columnsOf(setRevoking)}
        keyOf={({ id }) => id}
        empty={{ icon: ShieldCheck, title: texts.none }}
      />
      {isCreating && <CreateOperator onCreated={list.reload} onClose={() => setCreating(false)} />}
      {revoking !== undefined && (
        <ConfirmDialog
          title={texts.revokeQuestion(revoking.name)}
          typed={revoking.name}
          confirmLabel={texts.revoke}
          isBusy={isBusy}
          error={error}
          onConfirm={() => void run(revoking.id)}
          onClose={() => setRevoking(undefined)}
        >
          <p>{texts.revokeEffect}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

const columnsOf = (onRevoke: (operator: Operator) => void): readonly Column<Operator>[] => [
  { label: texts.name, cell: ({ name }) => name },
  { label: texts.state, cell: (each) => <TokenState operator={each} /> },
  { label: strings.scopes, isWide: true, cell: ({ scopes }) => scopes.join(', ') },
  { label: strings.created, cell: ({ created_at: at }) => <DateTime value={at} /> },
  { label: strings.lastUsed, cell: ({ last_used_at: at }) => <DateTime value={at} /> },
  { label: texts.expires, cell: ({ expires_at: at }) => <DateTime value={at} /> },
  { label: texts.id, cell: ({ id }) => <code class="nowrap">{id}</code> },
  {
    label: strings.action,
    cell: (each) =>
      each.revoked_at === null && (
        <ActionButton permission="revokeOperator" variant="quiet" onClick={() => onRevoke(each)}>
          {texts.revoke}
        </ActionButton>
      ),
  },
];

function TokenState({ operator: { revoked_at: revokedAt, expires_at: expiresAt } }: { operator: Operator }) {
  if (revokedAt !== null) return <StateLabel tone="expired">{texts.revoked}</StateLabel>;
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now())
    return <StateLabel tone="expired">{texts.expired}</StateLabel>;
  return <StateLabel tone="active">{texts.valid}</StateLabel>;
}
