import type { Key } from '../../../contract/operator/key.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { KeyRound } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { StateLabel } from '../parts/state-label.tsx';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';

const { keys: texts } = strings;

const tones = { next: 'pending', current: 'active', retiring: 'depleted', dead: 'expired' } as const;
type State = keyof typeof tones;
const isState = (state: string): state is State => Object.hasOwn(tones, state);

const columns: readonly Column<Key>[] = [
  { label: texts.purpose, cell: ({ purpose }) => <span class="nowrap">{texts.purposes[purpose]}</span> },
  {
    label: 'State',
    cell: ({ state }) => (isState(state) ? <StateLabel tone={tones[state]}>{texts.states[state]}</StateLabel> : state),
  },
  { label: 'Key id', isWide: true, cell: ({ kid }) => <code title={kid}>{kid}</code> },
  { label: 'Algorithm', cell: ({ alg }) => alg },
  { label: 'In use from', cell: ({ activates_at: at }) => <DateTime value={at} /> },
  { label: 'Next rotation', cell: ({ rotation_due_at: at }) => <DateTime value={at} /> },
  { label: 'Ends', cell: ({ ends_at: at }) => <DateTime value={at} /> },
  { label: 'Encrypted', cell: ({ encrypted }) => (encrypted ? strings.yes : strings.no) },
];

/** The keys of the service, and their rotation. */
export function KeysPage() {
  const list = useList('listKeys');
  return (
    <>
      <div class="toolbar row gap-3">
        <p class="soft">Access keys sign access tokens; refresh keys protect refresh tokens.</p>
        <DialogButton
          permission="rotateKeys"
          variant="primary"
          icon={KeyRound}
          dialog={(close) => <RotateKey onRotated={list.reload} onClose={close} />}
        >
          {texts.rotate}
        </DialogButton>
      </div>
      <ListView
        label={texts.title}
        list={list}
        columns={columns}
        keyOf={({ purpose, kid }) => `${purpose} ${kid}`}
        empty={{ icon: KeyRound, title: texts.none }}
      />
    </>
  );
}

/** Rotates a key; a compromised one, whose tokens are rejected, once its purpose is typed. */
const RotateKey = ({ onRotated, onClose }: { onRotated: () => void; onClose: () => void }) => (
  <OperationDialog
    operation="rotateKeys"
    title={texts.rotate}
    submit={texts.rotate}
    rows={{
      purpose: { label: texts.purpose, words: texts.purposes },
      mode: { label: 'When', words: texts.modes, meanings: texts.modeHints },
    }}
    typed={({ mode, purpose }) => (mode === 'compromised' ? String(purpose) : undefined)}
    onDone={() => {
      announce('Key rotated');
      onRotated();
      onClose();
    }}
    onClose={onClose}
  />
);
