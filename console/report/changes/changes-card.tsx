import { History } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { isRemoved } from '../../../src/client/records.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatMinute } from '../../ui/format-date.ts';
import { currentLocation, Link } from '../../ui/location.tsx';
import { filterStatusWord, StatusLabel } from '../../ui/status-label.tsx';
import { SaveCsvButton } from '../export/save-csv-button.tsx';
import { strings } from '../strings.ts';
import { shortenIccid } from '../subscriptions/iccid.ts';
import { nameOf } from '../subscriptions/product-names.ts';
import { ChangeFilterBar, filtersOf } from './change-filters.tsx';
import { changesCsv } from './changes-csv.ts';
import { DifferenceList } from './difference-list.tsx';
import {
  type ChangeGroup,
  countKinds,
  countNewStatuses,
  filterChanges,
  groupByImport,
  type ListedChange,
  versionsOf,
} from './listed-changes.ts';

const text = strings.changes;

/** The list grows on request: a thousand rows at once take long to draw. */
const rowsPerStep = 100;

interface ChangesCardProps {
  /** The newest first. */
  readonly changes: readonly ListedChange[];
  readonly hasMore: boolean;
  /** The period, in words: "since 1 Nov 2026". */
  readonly when: string;
  /** Sentences below the title. */
  readonly hints: readonly (string | undefined)[];
  readonly actions?: ComponentChildren;
}

/** Changes by import, with their numbers, the filters, and a button that saves them as CSV. */
export function ChangesCard({ changes, hasMore, when, hints, actions }: ChangesCardProps) {
  const filters = filtersOf(currentLocation.value.query);
  const shown = filterChanges(changes, filters);
  const sentences = [...statusSentences(shown), ...hints].filter((hint) => hint !== undefined);
  if (changes.length === 0)
    return <EmptyState icon={History} title={text.noneIn(when, filters.kind)} text={sentences.join(' ')} />;
  return (
    <Card
      title={titleOf(shown, hasMore, when)}
      actions={
        <span class="change-actions no-print">
          {shown.length > 0 && <SaveCsvButton what="changes" csv={() => changesCsv(shown)} />}
          {actions}
        </span>
      }
    >
      {sentences.map((sentence) => (
        <p key={sentence} class="soft">
          {sentence}
        </p>
      ))}
      <ChangeFilterBar changes={changes} filters={filters} />
      {shown.length === 0 ? <EmptyState title={text.noMatch} /> : <Groups changes={shown} />}
    </Card>
  );
}

function titleOf(changes: readonly ListedChange[], hasMore: boolean, when: string): string {
  const kinds = countKinds(changes);
  return kinds === undefined ? text.count(changes.length, hasMore, when) : text.counts(kinds, hasMore, when);
}

/** "31 are now Depleted, 4 are now Expired." */
function statusSentences(changes: readonly ListedChange[]): readonly string[] {
  const counts = countNewStatuses(changes).map(([status, count]) => text.nowHave(count, filterStatusWord(status)));
  return counts.length === 0 ? [] : [`${counts.join(', ')}.`];
}

function Groups({ changes }: { readonly changes: readonly ListedChange[] }) {
  const [shown, setShown] = useState(rowsPerStep);
  const left = changes.length - shown;
  let room = shown;
  return (
    <>
      {groupByImport(changes).map((group) => {
        const rows = group.changes.slice(0, room);
        room -= rows.length;
        return rows.length > 0 && <Group key={group.changes[0]?.id} group={group} rows={rows} />;
      })}
      {left > 0 && (
        <Button onClick={() => setShown(shown + rowsPerStep)}>{text.showMore(Math.min(left, rowsPerStep))}</Button>
      )}
    </>
  );
}

/** An import with its time and its numbers; without a heading if neither is known. */
function Group({ group, rows }: { readonly group: ChangeGroup; readonly rows: readonly ListedChange[] }) {
  const { importId, changes } = group;
  const kinds = countKinds(changes);
  return (
    <section class="change-group">
      {kinds !== undefined && (
        <header>
          <h3>{headingOf(group)}</h3>
          {importId !== undefined && <CopyButton text={importId} what={text.importId} />}
          <span class="soft">{text.kinds(kinds)}</span>
        </header>
      )}
      <ul class="change-list">
        {rows.map((change) => (
          <Row key={change.id} change={change} />
        ))}
      </ul>
    </section>
  );
}

function headingOf({ importId, from, to }: ChangeGroup): string {
  if (from === undefined || to === undefined) return text.unknownTime;
  const [begin, end] = [formatMinute(from), formatMinute(to)];
  const time = begin === end ? end : `${begin} – ${end.slice(-'00:00'.length)}`;
  return importId === undefined ? text.byOperator(time) : text.byImport(time);
}

function Row({ change }: { readonly change: ListedChange }) {
  const { id, kind, before } = change;
  const [record] = versionsOf(change);
  const isGone = isRemoved(change);
  return (
    <li class="change">
      <div>
        {record === undefined || isGone ? (
          <span class={record === undefined ? 'change-id' : 'change-product'}>
            <bdi>{record === undefined ? id : nameOf(record.product)}</bdi>
          </span>
        ) : (
          <Link class="change-product" href={`/console/subscriptions/${encodeURIComponent(id)}`}>
            <bdi>{nameOf(record.product)}</bdi>
          </Link>
        )}
        {record !== undefined && <span class="soft">{shortenIccid(record.iccid)}</span>}
        {kind === 'changed' && before !== undefined && record !== undefined && (
          <DifferenceList before={before} after={record} />
        )}
      </div>
      <span class="change-kind">
        {kind === undefined ? isGone && text.kind.removed : text.kind[kind]}
        {!isGone && kind !== 'changed' && <StatusLabel status={change.status ?? null} />}
      </span>
    </li>
  );
}
