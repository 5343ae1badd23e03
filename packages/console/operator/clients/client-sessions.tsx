import type { ClientDetails, ClientSession } from '../../../contract/operator/client.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { Ban, UserX } from '../../ui/icons.ts';
import type { Column } from '../parts/data-table.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';

const { sessions: texts } = strings.clients;

interface ClientSessionsProps {
  readonly client: ClientDetails;
  readonly onChanged: () => void;
}

/** The sessions of a client; revokes the tokens of one or of all. */
export function ClientSessions({ client: { client_id }, onChanged }: ClientSessionsProps) {
  const list = useList('listClientSessions', {}, { params: { client_id } });
  const onRevoked = (): void => {
    list.reload();
    onChanged();
  };
  return (
    <Card
      title={texts.title}
      actions={
        <DialogButton
          permission="revokeClientTokens"
          icon={Ban}
          dialog={(close) => <Revoke clientId={client_id} onRevoked={onRevoked} onClose={close} />}
        >
          Revoke tokens
        </DialogButton>
      }
    >
      <ListView
        label={texts.title}
        list={list}
        columns={[
          ...columns,
          {
            label: strings.action,
            cell: ({ session }) => (
              <DialogButton
                permission="revokeClientTokens"
                variant="quiet"
                dialog={(close) => (
                  <Revoke clientId={client_id} session={session} onRevoked={onRevoked} onClose={close} />
                )}
              >
                Revoke
              </DialogButton>
            ),
          },
        ]}
        keyOf={({ session }) => session}
        empty={{ icon: UserX, title: texts.none, text: texts.noneHint }}
      />
    </Card>
  );
}

const columns: readonly Column<ClientSession>[] = [
  { label: 'Session', isWide: true, cell: ({ session }) => <code>{session}</code> },
  { label: 'Started', cell: ({ started_at: at }) => <DateTime value={at} /> },
  { label: strings.lastUsed, cell: ({ last_used_at: at }) => <DateTime value={at} /> },
  { label: 'Refreshes', isNumber: true, cell: ({ refreshes }) => formatCount(refreshes) },
  { label: 'Ends', cell: ({ ends_at: at }) => <DateTime value={at} /> },
];

interface RevokeProps {
  readonly clientId: string;
  /** Absent for all sessions. */
  readonly session?: string;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

const Revoke = ({ clientId, session, onRevoked, onClose }: RevokeProps) => (
  <OperationDialog
    operation="revokeClientTokens"
    params={{ client_id: clientId }}
    fixed={session === undefined ? {} : { session }}
    title={session === undefined ? 'Revoke all tokens?' : 'Revoke the tokens of this session?'}
    submit="Revoke tokens"
    onDone={() => {
      onClose();
      onRevoked();
    }}
    onClose={onClose}
  >
    <p>
      {session === undefined
        ? 'All current tokens of the client are rejected. Its secret stays valid, so it can request new ones.'
        : 'The tokens of this session are rejected. The client can request new ones with its secret.'}
    </p>
  </OperationDialog>
);
