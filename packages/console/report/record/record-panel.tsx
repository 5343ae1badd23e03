import { IconButton } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ChevronDown, ChevronUp, SearchX } from '../../ui/icons.ts';
import { useShortcuts } from '../../ui/keyboard.tsx';
import { SidePanel } from '../../ui/side-panel.tsx';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { type Load, useLoad } from '../../ui/use-load.ts';
import { RecordHistory } from '../history/record-history.tsx';
import { asOf } from '../past/as-of.ts';
import { type ReadRecord, readRecord } from './read-record.ts';
import { recordStrings } from './record-strings.ts';
import { RecordView } from './record-view.tsx';

const text = recordStrings;

interface RecordPanelProps {
  readonly id: string;
  readonly onClose: () => void;
  /** Opens the record before this one in the list; absent at its start. */
  readonly onPrevious?: (() => void) | undefined;
  readonly onNext?: (() => void) | undefined;
}

/** The record with an id, beside the list. Arrow keys move to its neighbours, Esc closes it. */
export function RecordPanel({ id, onClose, onPrevious, onNext }: RecordPanelProps) {
  const time = asOf.value?.instant;
  const load = useLoad((signal) => readRecord(id, time, signal), { key: `${id} ${time}` });
  const name = load.kind === 'ready' ? load.value?.record.product.name : undefined;
  const shortcuts = [
    { key: 'ArrowLeft', label: text.previous, run: () => onPrevious?.() },
    { key: 'ArrowRight', label: text.next, run: () => onNext?.() },
    { key: 'Escape', label: text.close, run: onClose },
  ];
  useShortcuts(shortcuts);
  return (
    <SidePanel
      title={<bdi>{name || text.title}</bdi>}
      onClose={onClose}
      keys={{ ArrowUp: onPrevious, k: onPrevious, ArrowDown: onNext, j: onNext }}
      actions={
        <>
          <IconButton icon={ChevronUp} label={text.previous} disabled={!onPrevious} onClick={onPrevious} />
          <IconButton icon={ChevronDown} label={text.next} disabled={!onNext} onClick={onNext} />
        </>
      }
    >
      <PanelBody id={id} load={load} />
    </SidePanel>
  );
}

function PanelBody({ id, load }: { readonly id: string; readonly load: Load<ReadRecord | undefined> }) {
  if (load.kind === 'failed') return <ErrorNote error={load.error} onRetry={load.retry} />;
  if (load.kind === 'ready' && load.value !== undefined) return <RecordView {...load.value} />;
  if (load.kind === 'ready')
    return (
      <>
        <EmptyState icon={SearchX} title={text.missing} text={text.missingHint(id)} />
        <RecordHistory id={id} />
      </>
    );
  return (
    <Loading>
      <Skeleton height="24px" width="40%" />
      <Skeleton height="96px" />
      <Skeleton height="240px" />
    </Loading>
  );
}
