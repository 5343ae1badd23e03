import { Card } from '../../ui/card.tsx';
import { KeyRound, Plus } from '../../ui/icons.ts';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { clientColumns } from './client-columns.tsx';
import { CreateClient } from './create-client.tsx';

const { clients: texts } = strings;

/** The clients of a tenant. */
export function ClientsCard({ tenant }: { tenant: string }) {
  const list = useList('listClients', { tenant });
  const create = (
    <DialogButton
      permission="createClient"
      icon={Plus}
      dialog={(close) => <CreateClient tenant={tenant} onCreated={list.reload} onClose={close} />}
    >
      {texts.create}
    </DialogButton>
  );
  return (
    <Card title={texts.title} actions={create}>
      <ListView
        label={texts.title}
        list={list}
        columns={clientColumns.filter(({ label }) => label !== strings.tenant)}
        keyOf={({ client_id: id }) => id}
        empty={{ icon: KeyRound, title: texts.none, text: texts.noneHint }}
      />
    </Card>
  );
}
