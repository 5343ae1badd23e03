import { useEffect, useState } from 'preact/hooks';
import { IconButton } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ChevronDown, ChevronUp, SearchX } from '../../ui/icons.ts';
import { useShortcuts } from '../../ui/keyboard.tsx';
import { SidePanel } from '../../ui/side-panel.tsx';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { RecordHistory } from '../history/record-history.tsx';
import { asOf } from '../past/as-of.ts';
import { strings } from '../strings.ts';
import { type ReadRecord, readRecord } from './read-record.ts';
import { RecordView } from './record-view.tsx';

const text = strings.record;

interface RecordPanelProps {
  readonly id: string;
  readonly onClose: () => void;
  /** Opens the record before this one in the list; absent at its start. */
  readonly onPrevious?: (() => void) | undefined;
  readonly onNext?: (() => void) | undefined;
}

type PanelState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | ({ readonly kind: 'read' } & ReadRecord);

/** The record with an id, beside the list. Arrow keys move to its neighbours, Esc closes it. */
export function RecordPanel({ id, onClose, onPrevious, onNext }: RecordPanelProps) {
  const [state, setState] = useState<PanelState>({ kind: 'loading' });
  const [attempt, setAttempt] = useState(0);
  const time = asOf.value?.instant;
  useEffect(() => {
    const abort = new AbortController();
    setState({ kind: 'loading' });
    readRecord(id, time, abort.signal).then(
      (read) => setState(read === undefined ? { kind: 'missing' } : { kind: 'read', ...read }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState({ kind: 'failed', error });
      },
    );
    return () => abort.abort();
  }, [id, time, attempt]);
  const shortcuts = [
    { key: 'ArrowLeft', label: text.previous, run: () => onPrevious?.() },
    { key: 'ArrowRight', label: text.next, run: () => onNext?.() },
    { key: 'Escape', label: text.close, run: onClose },
  ];
  useShortcuts(shortcuts);
  return (
    <SidePanel
      title={<bdi>{state.kind === 'read' ? state.record.product.name || text.title : text.title}</bdi>}
      onClose={onClose}
      keys={{ ArrowUp: onPrevious, k: onPrevious, ArrowDown: onNext, j: onNext }}
      actions={
        <>
          <IconButton icon={ChevronUp} label={text.previous} disabled={!onPrevious} onClick={onPrevious} />
          <IconButton icon={ChevronDown} label={text.next} disabled={!onNext} onClick={onNext} />
        </>
      }
    >
      <PanelBody id={id} state={state} onRetry={() => setAttempt(attempt + 1)} />
    </SidePanel>
  );
}

function PanelBody({ id, state, onRetry }: { id: string; state: PanelState; onRetry: () => void }) {
  switch (state.kind) {
    case 'loading':
      return (
        <Loading>
          <Skeleton height="24px" width="40%" />
          <Skeleton height="96px" />
          <Skeleton height="240px" />
        </Loading>
      );
    case 'missing':
      return (
        <>
          <EmptyState icon={SearchX} title={text.missing} text={text.missingHint(id)} />
          <RecordHistory id={id} />
        </>
      );
    case 'failed':
      return <ErrorNote error={state.error} onRetry={onRetry} />;
    case 'read':
      return <RecordView record={state.record} json={state.json} />;
  }
}
