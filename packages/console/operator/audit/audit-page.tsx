import type { AuditEntry } from '../../../contract/operator/audit.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { ScrollText } from '../../ui/icons.ts';
import type { Column } from '../parts/data-table.tsx';
import { clientFilter, tenantFilter, useClients } from '../parts/filter-fields.tsx';
import { formatSecond } from '../parts/format-time.ts';
import { ListPage } from '../parts/list-page.tsx';
import { StateLabel } from '../parts/state-label.tsx';
import { strings } from '../strings.ts';
import { actionOptions, actionWord } from './audit-actions.ts';
import { AuditDetails } from './audit-details.tsx';

const { audit: texts } = strings;

const outcomes = ['ok', 'refused', 'failed', 'started'] as const;
const tones = { ok: 'active', refused: 'depleted', failed: 'danger', started: 'pending' } as const;
const isOutcome = (outcome: string): outcome is (typeof outcomes)[number] => Object.hasOwn(tones, outcome);

/** The columns; `nameOf` returns the name of a client, if it is known. */
const columnsWith = (nameOf: (clientId: string) => string | undefined): readonly Column<AuditEntry>[] => [
  { label: 'Time', cell: ({ recorded_at: at }) => <DateTime value={at} text={formatSecond(at)} /> },
  {
    label: texts.actor,
    cell: ({ actor: { kind, id, name } }) => (
      <>
        {name ?? (kind === 'client' && id !== null ? nameOf(id) : undefined) ?? id ?? strings.noValue}{' '}
        <span class="soft">{kind}</span>
      </>
    ),
  },
  {
    label: texts.action,
    cell: (entry) => <span title={entry.action}>{actionWord(entry)}</span>,
  },
  { label: strings.tenant, cell: ({ tenant }) => <span class="tenant-name">{tenant ?? strings.noValue}</span> },
  {
    label: strings.client,
    cell: ({ client_id: id, details }) => {
      if (id === null) return strings.noValue;
      const name = 'name' in details ? String(details.name) : nameOf(id);
      return (
        <>
          {name ?? id}
          {name !== undefined && <span class="second-line small">{id}</span>}
        </>
      );
    },
  },
  {
    label: texts.outcome,
    cell: ({ outcome, error }) => (
      <>
        {isOutcome(outcome) ? <StateLabel tone={tones[outcome]}>{texts.outcomes[outcome]}</StateLabel> : outcome}
        {error !== null && <code class="soft"> {error}</code>}
      </>
    ),
  },
  { label: 'Details', cell: (entry) => <AuditDetails entry={entry} /> },
];

const outcomeOptions = outcomes.map((value) => ({ value, label: texts.outcomes[value] }));

const filters = [
  { name: 'action', label: texts.action, options: actionOptions },
  { name: 'outcome', label: texts.outcome, options: outcomeOptions },
  tenantFilter,
  clientFilter,
  { name: 'actor', label: texts.actor },
  { name: 'since', label: 'From, UTC', isTime: true },
  { name: 'until', label: 'Before, UTC', isTime: true },
];

/** Who did what, the newest first, with the filters of the address. */
export function AuditPage() {
  const { items: clients = [], hasMore } = useClients();
  const names = new Map(clients.map(({ client_id: id, name }) => [id, name ?? undefined]));
  return (
    <ListPage
      operation="listAuditEntries"
      title={texts.title}
      filters={filters}
      columns={columnsWith((id) => names.get(id))}
      keyOf={({ id }) => String(id)}
      empty={{ icon: ScrollText, ...texts }}
    >
      {hasMore === true && <p class="soft">{texts.named(clients.length)}</p>}
    </ListPage>
  );
}
