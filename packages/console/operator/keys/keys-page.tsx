import { useState } from 'preact/hooks';
import type { Key } from '../../../contract/operator/key.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { KeyRound } from '../../ui/icons.ts';
import { call } from '../call.ts';
import { ActionButton } from '../parts/action-button.tsx';
import type { Column } from '../parts/data-table.tsx';
import { ListView } from '../parts/list-view.tsx';
import { StateLabel } from '../parts/state-label.tsx';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';
import { RotateKey } from './rotate-key.tsx';

const { keys: texts } = strings;

const tones = { next: 'pending', current: 'active', retiring: 'depleted', dead: 'expired' } as const;
type State = keyof typeof tones;
const isState = (state: string): state is State => Object.hasOwn(tones, state);

const columns: readonly Column<Key>[] = [
  { label: texts.purpose, cell: ({ purpose }) => <span class="nowrap">{texts.purposes[purpose]}</span> },
  {
    label: texts.state,
    cell: ({ state }) => (isState(state) ? <StateLabel tone={tones[state]}>{texts.states[state]}</StateLabel> : state),
  },
  { label: texts.id, isWide: true, cell: ({ kid }) => <code title={kid}>{kid}</code> },
  { label: texts.algorithm, cell: ({ alg }) => alg },
  { label: texts.activates, cell: ({ activates_at: at }) => <DateTime value={at} /> },
  { label: texts.rotationDue, cell: ({ rotation_due_at: at }) => <DateTime value={at} /> },
  { label: texts.ends, cell: ({ ends_at: at }) => <DateTime value={at} /> },
  { label: texts.encrypted, cell: ({ encrypted }) => (encrypted ? strings.yes : strings.no) },
];

/** The keys of the service, and their rotation. */
export function KeysPage() {
  const { value, ...list } = useResource('keys', (signal) => call('listKeys', { signal }));
  const [isRotating, setRotating] = useState(false);
  return (
    <>
      <div class="toolbar">
        <p class="soft">{texts.intro}</p>
        <ActionButton permission="rotateKeys" variant="primary" icon={KeyRound} onClick={() => setRotating(true)}>
          {texts.rotate}
        </ActionButton>
      </div>
      <ListView
        label={texts.title}
        list={{ ...list, ...(value !== undefined && { items: value.data }) }}
        columns={columns}
        keyOf={({ purpose, kid }) => `${purpose} ${kid}`}
        empty={{ icon: KeyRound, title: texts.none }}
      />
      {isRotating && <RotateKey onRotated={list.reload} onClose={() => setRotating(false)} />}
    </>
  );
}
