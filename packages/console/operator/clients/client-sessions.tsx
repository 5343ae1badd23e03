import { useState } from 'preact/hooks';
import type { ClientDetails, ClientSession } from '../../../contract/operator/client.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { Ban, UserX } from '../../ui/icons.ts';
import { call } from '../call.ts';
import { ActionButton } from '../parts/action-button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import type { Column } from '../parts/data-table.tsx';
import { ListView } from '../parts/list-view.tsx';
import { useAction } from '../parts/use-action.ts';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';

const { sessions: texts } = strings.clients;

interface ClientSessionsProps {
  readonly client: ClientDetails;
  readonly onChanged: () => void;
}

/** The sessions of a client; revokes the tokens of one or of all. */
export function ClientSessions({ client: { client_id: id }, onChanged }: ClientSessionsProps) {
  const params = { client_id: id };
  const { value, ...list } = useResource(id, (signal) => call('listClientSessions', { params, signal }));
  /** A session, or all of them. */
  const [revoking, setRevoking] = useState<string | 'all'>();
  const { run, isBusy, error } = useAction(async (idempotencyKey, session: string) => {
    await call('revokeClientTokens', { params, body: session === 'all' ? {} : { session }, idempotencyKey });
    setRevoking(undefined);
    list.reload();
    onChanged();
  });
  return (
    <Card
      title={texts.title}
      actions={
        <ActionButton permission="revokeClientTokens" icon={Ban} onClick={() => setRevoking('all')}>
          {texts.revokeAll}
        </ActionButton>
      }
    >
      <ListView
        label={texts.title}
        list={{ ...list, ...(value !== undefined && { items: value.data }) }}
        columns={columnsOf(setRevoking)}
        keyOf={({ session }) => session}
        empty={{ icon: UserX, title: texts.none, text: texts.noneHint }}
      />
      {revoking !== undefined && (
        <ConfirmDialog
          title={revoking === 'all' ? texts.revokeAllQuestion : texts.revokeOneQuestion}
          confirmLabel={texts.confirm}
          isBusy={isBusy}
          error={error}
          onConfirm={() => void run(revoking)}
          onClose={() => setRevoking(undefined)}
        >
          <p>{revoking === 'all' ? texts.revokeAllEffect : texts.revokeOneEffect}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}

const columnsOf = (onRevoke: (session: string) => void): readonly Column<ClientSession>[] => [
  { label: texts.id, isWide: true, cell: ({ session }) => <code>{session}</code> },
  { label: texts.started, cell: ({ started_at: at }) => <DateTime value={at} /> },
  { label: strings.lastUsed, cell: ({ last_used_at: at }) => <DateTime value={at} /> },
  { label: texts.refreshes, isNumber: true, cell: ({ refreshes }) => formatCount(refreshes) },
  { label: texts.ends, cell: ({ ends_at: at }) => <DateTime value={at} /> },
  {
    label: strings.action,
    cell: ({ session }) => (
      <ActionButton permission="revokeClientTokens" variant="quiet" onClick={() => onRevoke(session)}>
        {texts.revoke}
      </ActionButton>
    ),
  },
];
