import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ChangesSummary, DescribedChange } from '../../../client/index.ts';
import { isRemoved } from '../../../client/records.ts';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { History } from '../../ui/icons.ts';
import { currentLocation, Link } from '../../ui/location.tsx';
import { StatusLabel } from '../../ui/status-label.tsx';
import { WorkButton } from '../../ui/work-button.tsx';
import { reports } from '../api.ts';
import { DifferenceList } from '../history/difference-list.tsx';
import { historyStrings } from '../history/history-strings.ts';
import { shortenIccid } from '../words/iccid.ts';
import { nameOf } from '../words/product-names.ts';
import { daysHint, zoneOfPages } from '../zone/local-days.ts';
import { SelectionNote, selectionOf } from './change-filters.tsx';
import { PartLinks } from './change-parts.tsx';
import { changesStrings } from './change-strings.ts';
import { type ChangeGroup, groupByImport, versionsOf } from './listed-changes.ts';
import { partsOf, partsOfImport } from './parts-of-changes.ts';
import { type ChangeSelection, changesPerPage, type PeriodChanges, readMore } from './read-period.ts';

const text = changesStrings;

interface ChangesCardProps {
  readonly period: PeriodChanges;
  /** The period, in words: "since 1 Nov 2026". */
  readonly when: string;
  readonly actions?: ComponentChildren;
}

/** What changed in numbers, each of which lists what it counts, and the newest changes by import. */
export function ChangesCard({ period: first, when, actions }: ChangesCardProps) {
  const [period, setPeriod] = useState(first);
  const selection = selectionOf(currentLocation.value.query);
  const { summary, changes, hasMore, knownSince } = period;
  const isWhole = Object.keys(selection).length === 0;
  const hint = knownSince === undefined ? undefined : text.knownSince;
  if (summary.total === 0) return <EmptyState icon={History} title={text.noneIn(when)} text={hint} />;
  return (
    <Card
      title={text.counts(summary, when)}
      actions={actions && <span class="change-actions row no-print">{actions}</span>}
    >
      <PartLinks parts={partsOf(summary)} />
      {hint !== undefined && <p class="soft">{hint}</p>}
      {zoneOfPages() !== undefined && <p class="soft">{daysHint()}</p>}
      <SelectionNote selection={selection} summary={summary} />
      {changes.length === 0 ? (
        <EmptyState title={text.noMatch(when)} />
      ) : (
        <p class="changes-listed soft">
          {text.listed(changes.length, hasMore ? allOf(summary, selection) : undefined)}
        </p>
      )}
      <Groups changes={changes} summary={isWhole ? summary : undefined} />
      {hasMore && (
        <WorkButton work={async () => setPeriod(await readMore(reports, period, selection))}>
          {text.showMore(changesPerPage)}
        </WorkButton>
      )}
    </Card>
  );
}

/** How many changes a selection has, if a number leads to it. */
function allOf(summary: ChangesSummary, selection: ChangeSelection): string {
  const parts = [
    { count: summary.total, selection: {} },
    ...partsOf(summary),
    ...summary.by.import.flatMap(partsOfImport),
  ];
  const name = JSON.stringify(selection);
  const part = parts.find((each) => JSON.stringify(each.selection) === name);
  return part === undefined ? 'them' : formatCount(part.count);
}

interface GroupsProps {
  readonly changes: readonly DescribedChange[];
  /** The counts of the imports, if the changes are not a selection. */
  readonly summary: ChangesSummary | undefined;
}

/** The listed changes by import; then the imports without a listed change, with their numbers. */
function Groups({ changes, summary }: GroupsProps) {
  const groups = groupByImport(changes);
  const { import: imports = [] } = summary?.by ?? {};
  const countsOf = (id: string | undefined) => imports.find(({ import_id: each }) => each === id);
  const others = imports.filter(({ import_id: id }) => !groups.some(({ importId }) => importId === id));
  return (
    <>
      {groups.map((group) => (
        <Group key={`${group.importId} ${group.changes[0]?.id}`} group={group} counts={countsOf(group.importId)} />
      ))}
      {others.map((counts) => (
        <Group
          key={counts.import_id}
          group={{ importId: counts.import_id, from: counts.first_at, to: counts.last_at, changes: [] }}
          counts={counts}
        />
      ))}
      {summary !== undefined && summary.omitted.import > 0 && (
        <p class="soft">{text.olderImports(summary.omitted.import)}</p>
      )}
    </>
  );
}

interface GroupProps {
  readonly group: ChangeGroup;
  readonly counts: ChangesSummary['by']['import'][number] | undefined;
}

/** An import with its time, its numbers, and its changes that are listed. */
function Group({ group, counts }: GroupProps) {
  const { importId, changes } = group;
  const from = counts?.first_at ?? group.from;
  const to = counts?.last_at ?? group.to;
  return (
    <section class="change-group">
      {(importId !== undefined || to !== undefined) && (
        <header class="row">
          <h3>{headingOf({ ...group, from, to })}</h3>
          {importId !== undefined && <CopyButton text={importId} what={historyStrings.importId} />}
          {counts !== undefined && <PartLinks parts={partsOfImport(counts)} />}
        </header>
      )}
      {changes.length > 0 && (
        <ul class="lines">
          {changes.map((change) => (
            <Row key={change.id} change={change} />
          ))}
        </ul>
      )}
    </section>
  );
}

function headingOf({ importId, from, to }: ChangeGroup): string {
  if (from === undefined || to === undefined) return text.unknownTime;
  const [begin, end] = [formatMinute(from), formatMinute(to)];
  const isOneDay = begin.slice(0, -'00:00'.length) === end.slice(0, -'00:00'.length);
  const time = begin === end ? end : `${begin} – ${isOneDay ? end.slice(-'00:00'.length) : end}`;
  return importId === undefined ? text.byOperator(time) : text.byImport(time);
}

function Row({ change }: { readonly change: DescribedChange }) {
  const { id, kind, before } = change;
  const [record] = versionsOf(change);
  const isGone = isRemoved(change);
  return (
    <li class="change spread">
      <div class="row apart">
        {record === undefined || isGone ? (
          <span class={`long ${record === undefined ? '' : 'medium'}`}>
            <bdi>{record === undefined ? id : nameOf(record.product)}</bdi>
          </span>
        ) : (
          <Link class="plain long medium" href={`/console/subscriptions/${encodeURIComponent(id)}`}>
            <bdi>{nameOf(record.product)}</bdi>
          </Link>
        )}
        {record !== undefined && <span class="soft">{shortenIccid(record.iccid)}</span>}
        {kind === 'changed' && before !== undefined && record !== undefined && (
          <DifferenceList before={before} after={record} />
        )}
      </div>
      <span class="change-kind soft">
        {text.kind[kind]}
        {!isGone && kind !== 'changed' && <StatusLabel status={change.status ?? null} />}
      </span>
    </li>
  );
}
