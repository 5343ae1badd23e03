import type { Operator } from '../../../contract/operator/token.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { Plus, ShieldCheck } from '../../ui/icons.ts';
import type { Column } from '../parts/data-table.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { StateLabel } from '../parts/state-label.tsx';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { CreateOperator } from './create-operator.tsx';

const { operators: texts } = strings;

/** The operators' tokens. */
export function OperatorsPage() {
  const list = useList('listOperators');
  return (
    <>
      <div class="toolbar row gap-3">
        <p class="soft">People and systems use this console and the operator API with a token.</p>
        <DialogButton
          permission="createOperator"
          variant="primary"
          icon={Plus}
          dialog={(close) => <CreateOperator onCreated={list.reload} onClose={close} />}
        >
          {texts.create}
        </DialogButton>
      </div>
      <ListView
        label={texts.title}
        list={list}
        columns={columnsOf(list.reload)}
        keyOf={({ id }) => id}
        empty={{ icon: ShieldCheck, title: texts.none }}
      />
    </>
  );
}

const columnsOf = (onRevoked: () => void): readonly Column<Operator>[] => [
  { label: texts.name, cell: ({ name }) => name },
  { label: 'State', cell: (each) => <TokenState operator={each} /> },
  { label: strings.scopes, isWide: true, cell: ({ scopes }) => scopes.join(', ') },
  { label: strings.created, cell: ({ created_at: at }) => <DateTime value={at} /> },
  { label: strings.lastUsed, cell: ({ last_used_at: at }) => <DateTime value={at} /> },
  { label: 'Expires', cell: ({ expires_at: at }) => <DateTime value={at} /> },
  { label: 'Id', cell: ({ id }) => <code class="nowrap">{id}</code> },
  {
    label: strings.action,
    cell: (each) => each.revoked_at === null && <RevokeButton operator={each} onRevoked={onRevoked} />,
  },
];

const RevokeButton = ({ operator: { id, name }, onRevoked }: { operator: Operator; onRevoked: () => void }) => (
  <DialogButton
    permission="revokeOperator"
    variant="quiet"
    dialog={(close) => (
      <OperationDialog
        operation="revokeOperator"
        params={{ operator_id: id }}
        title={texts.revokeQuestion(name)}
        submit={texts.revoke}
        typed={name}
        onDone={() => {
          close();
          onRevoked();
        }}
        onClose={close}
      >
        <p>The token is rejected from the next request on. This cannot be undone.</p>
      </OperationDialog>
    )}
  >
    {texts.revoke}
  </DialogButton>
);

function TokenState({ operator: { revoked_at: revokedAt, expires_at: expiresAt } }: { operator: Operator }) {
  if (revokedAt !== null) return <StateLabel tone="expired">Revoked</StateLabel>;
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return <StateLabel tone="expired">Expired</StateLabel>;
  return <StateLabel tone="active">Valid</StateLabel>;
}
