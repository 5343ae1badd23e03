import { Check, History } from 'lucide';
import { useState } from 'preact/hooks';
import { AsOf } from '../../ui/as-of.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { announce } from '../../ui/live-region.tsx';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { currentLocation, Link } from '../../ui/location.tsx';
import { strings } from '../strings.ts';
import { ChangeList } from './change-list.tsx';
import { describeChanges } from './describe-changes.ts';
import { LongList } from './long-list.tsx';
import { PeriodChanges } from './period-changes.tsx';
import type { RecentChanges } from './read-changes.ts';
import { type RecentChangesState, useRecentChanges } from './use-recent-changes.ts';

const text = strings.changes;
const listHeight = 320;

/** Days of the periods that can be chosen instead of the time since the last visit. */
const periods: Readonly<Record<string, number>> = { '1d': 1, '7d': 7, '30d': 30 };

/** What changed since the last visit, or within a period. */
export function ChangesPage() {
  const since = currentLocation.value.query.get('since') ?? '';
  const days = periods[since];
  return (
    <>
      <nav class="change-periods no-print" aria-label={text.since}>
        <Link class="button secondary" href="/console/changes" aria-current={days === undefined || undefined}>
          {text.lastVisit}
        </Link>
        {Object.entries(periods).map(([name, count]) => (
          <Link
            key={name}
            class="button secondary"
            href={`/console/changes?since=${name}`}
            aria-current={name === since || undefined}
          >
            {text.lastDays(count)}
          </Link>
        ))}
      </nav>
      {days === undefined ? <VisitChanges /> : <PeriodChanges key={since} days={days} />}
    </>
  );
}

function VisitChanges() {
  const changes = useRecentChanges();
  const { load } = changes;
  return (
    <>
      {load.kind === 'ready' && load.asOf !== undefined && <AsOf at={load.asOf} />}
      <LoadedPart load={load} height={listHeight}>
        {(recent) => <Changes recent={recent} markAsSeen={changes.markAsSeen} />}
      </LoadedPart>
    </>
  );
}

interface ChangesProps extends Pick<RecentChangesState, 'markAsSeen'> {
  readonly recent: RecentChanges;
}

function Changes({ recent, markAsSeen }: ChangesProps) {
  const { title, hint } = describeChanges(recent);
  if (recent.changes.length === 0) return <EmptyState icon={History} title={title} text={hint} />;
  return (
    <Card title={title} actions={<SeenButton markAsSeen={markAsSeen} />}>
      {hint !== undefined && <p class="soft">{hint}</p>}
      <LongList items={recent.changes}>{(shown) => <ChangeList changes={shown} />}</LongList>
    </Card>
  );
}

function SeenButton({ markAsSeen }: Pick<RecentChangesState, 'markAsSeen'>) {
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false });
  const mark = (): void => {
    setState({ busy: true });
    markAsSeen().then(
      () => announce(text.seen),
      (error: unknown) => setState({ busy: false, error }),
    );
  };
  return (
    <>
      {state.error !== undefined && <ErrorNote error={state.error} />}
      <Button icon={Check} busy={state.busy} onClick={mark}>
        {text.markAsSeen}
      </Button>
    </>
  );
}
