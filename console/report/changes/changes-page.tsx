import { Check, History } from 'lucide';
import { useState } from 'preact/hooks';
import { AsOf } from '../../ui/as-of.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { announce } from '../../ui/live-region.tsx';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { strings } from '../strings.ts';
import { ChangeList } from './change-list.tsx';
import { describeChanges } from './describe-changes.ts';
import type { RecentChanges } from './read-changes.ts';
import { type RecentChangesState, useRecentChanges } from './use-recent-changes.ts';

const text = strings.changes;
const listHeight = 320;

/** What changed since the last visit. */
export function ChangesPage() {
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
      <LongList changes={recent.changes} />
    </Card>
  );
}

/** The list grows on request: a thousand rows at once take long to draw. */
const rowsPerStep = 100;

function LongList({ changes }: Pick<RecentChanges, 'changes'>) {
  const [shown, setShown] = useState(rowsPerStep);
  const left = changes.length - shown;
  return (
    <>
      <ChangeList changes={changes.slice(0, shown)} />
      {left > 0 && (
        <Button onClick={() => setShown(shown + rowsPerStep)}>{text.showMore(Math.min(left, rowsPerStep))}</Button>
      )}
    </>
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
