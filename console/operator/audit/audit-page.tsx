import { ScrollText } from 'lucide';
import type { AuditEntry } from '../../../src/contract/operator/audit.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { currentLocation } from '../../ui/location.tsx';
import type { Column } from '../parts/data-table.tsx';
import { FilterField, FilterSelect } from '../parts/filter-field.tsx';
import { formatSecond } from '../parts/format-time.ts';
import { ListView } from '../parts/list-view.tsx';
import { StateLabel } from '../parts/state-label.tsx';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { AuditDetails } from './audit-details.tsx';
import { instantOf } from './instant-of.ts';

const { audit: texts } = strings;

const outcomes = ['ok', 'refused', 'failed', 'started'] as const;
const tones = { ok: 'active', refused: 'depleted', failed: 'danger', started: 'pending' } as const;
const isOutcome = (outcome: string): outcome is (typeof outcomes)[number] => Object.hasOwn(tones, outcome);

const columns: readonly Column<AuditEntry>[] = [
  { label: texts.recorded, cell: ({ recorded_at: at }) => <DateTime value={at} text={formatSecond(at)} /> },
  {
    label: texts.actor,
    cell: ({ actor }) => (
      <>
        {actor.name ?? actor.id ?? strings.noValue} <span class="soft">{actor.kind}</span>
      </>
    ),
  },
  { label: texts.action, cell: ({ action }) => <code class="nowrap">{action}</code> },
  { label: strings.tenant, cell: ({ tenant }) => tenant ?? strings.noValue },
  { label: texts.client, cell: ({ client_id: id }) => id ?? strings.noValue },
  {
    label: texts.outcome,
    cell: ({ outcome, error }) => (
      <>
        {isOutcome(outcome) ? <StateLabel tone={tones[outcome]}>{texts.outcomes[outcome]}</StateLabel> : outcome}
        {error !== null && <code class="soft"> {error}</code>}
      </>
    ),
  },
  { label: texts.details, cell: (entry) => <AuditDetails entry={entry} /> },
];

/** Who did what, the newest first, with the filters of the address. */
export function AuditPage() {
  const { query } = currentLocation.value;
  const value = (name: string): string | undefined => query.get(name) ?? undefined;
  const list = useList('listAuditEntries', {
    since: instantOf(value('since')),
    until: instantOf(value('until')),
    tenant: value('tenant'),
    client_id: value('client_id'),
    action: value('action'),
    actor: value('actor'),
    outcome: value('outcome'),
  });
  return (
    <>
      <div class="toolbar">
        <FilterField name="since" label={texts.since} hint={texts.timeHint} />
        <FilterField name="until" label={texts.until} hint={texts.timeHint} />
        <FilterField name="tenant" label={strings.tenant} />
        <FilterField name="client_id" label={texts.client} />
        <FilterField name="action" label={texts.action} hint={texts.actionHint} />
        <FilterField name="actor" label={texts.actor} hint={texts.actorHint} />
        <FilterSelect
          name="outcome"
          label={texts.outcome}
          options={outcomes.map((each) => ({ value: each, label: texts.outcomes[each] }))}
        />
      </div>
      <ListView
        label={texts.title}
        list={list}
        columns={columns}
        keyOf={({ id }) => String(id)}
        empty={{ icon: ScrollText, title: texts.none, text: texts.noneHint }}
      />
    </>
  );
}
