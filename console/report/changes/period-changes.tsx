import { History } from 'lucide';
import { useState } from 'preact/hooks';
import type { DescribedChange, Subscription } from '../../../src/client/index.ts';
import { isRemoved } from '../../../src/client/records.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatUtc } from '../../ui/format-date.ts';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { Link } from '../../ui/location.tsx';
import { LastValue, useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { session } from '../session/session.ts';
import { strings } from '../strings.ts';
import { shortenIccid } from '../subscriptions/iccid.ts';
import { describeDifferences } from './describe-differences.ts';
import { LongList } from './long-list.tsx';
import { type PeriodChanges as Changes, readPeriod } from './read-period.ts';
import { formatVisit } from './visit-time.ts';

const text = strings.changes;
const dayMs = 86_400_000;

/** What changed within a number of days until now: what happened, when, and which fields. */
export function PeriodChanges({ days }: { readonly days: number }) {
  const since = `${new Date(Date.now() - days * dayMs).toISOString().slice(0, 19)}Z`;
  const [last] = useState(() => new LastValue<Changes | undefined>(session));
  const load = useLoad(() => readPeriod(reports, since), last);
  return (
    <LoadedPart load={load} height={320}>
      {(period) =>
        period === undefined ? (
          <EmptyState icon={History} title={text.noHistory} text={text.noHistoryHint} />
        ) : (
          <Period days={days} period={period} />
        )
      }
    </LoadedPart>
  );
}

function Period({ days, period }: { readonly days: number; readonly period: Changes }) {
  const { changes, hasMore, knownSince } = period;
  const when = knownSince === undefined ? text.inLast(days) : text.sinceTime(formatVisit(knownSince.getTime()));
  const hint = knownSince && text.knownSince;
  if (changes.length === 0) return <EmptyState icon={History} title={text.noneIn(when)} text={hint} />;
  return (
    <Card title={text.counts(countKinds(changes), hasMore, when)}>
      {hint !== undefined && <p class="soft">{hint}</p>}
      {hasMore && <p class="soft">{text.firstOnes(changes.length)}</p>}
      <LongList items={changes}>
        {(shown) => (
          <ul class="change-list">
            {shown.map((change) => (
              <Row key={change.id} change={change} />
            ))}
          </ul>
        )}
      </LongList>
    </Card>
  );
}

function countKinds(changes: readonly DescribedChange[]): Record<DescribedChange['kind'], number> {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const { kind } of changes) counts[kind]++;
  return counts;
}

function Row({ change }: { readonly change: DescribedChange }) {
  const { kind, before, committed_at: at } = change;
  const record: Subscription | undefined = isRemoved(change) ? before : change;
  return (
    <li class="period-change">
      <div>
        {record === undefined ? (
          <span class="change-id">{change.id}</span>
        ) : isRemoved(change) ? (
          <span class="change-product">{record.product.name}</span>
        ) : (
          <Link class="change-product" href={`/console/subscriptions/${encodeURIComponent(change.id)}`}>
            {record.product.name}
          </Link>
        )}
        {record !== undefined && <span class="soft"> {shortenIccid(record.iccid)}</span>}
        {kind === 'changed' && before !== undefined && record !== undefined && (
          <ul class="differences">
            {describeDifferences(before, record).map(({ label, from, to }) => (
              <li key={label}>
                {label}: <bdi>{from}</bdi> → <bdi>{to}</bdi>
              </li>
            ))}
          </ul>
        )}
      </div>
      <span class="period-change-kind">
        {text.kind[kind]}
        {at !== undefined && <DateTime value={at} text={formatUtc(new Date(at)).slice(0, 16)} />}
      </span>
    </li>
  );
}
