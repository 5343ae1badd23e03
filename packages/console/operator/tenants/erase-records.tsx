import { useState } from 'preact/hooks';
import { Card } from '../../ui/card.tsx';
import { Select, TextArea, TextField } from '../../ui/field.tsx';
import { Eraser } from '../../ui/icons.ts';
import { call } from '../call.ts';
import { ActionButton } from '../parts/action-button.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';
import { readIds } from './read-ids.ts';

const { erasure: texts } = strings.tenants;

interface EraseRecordsProps {
  readonly tenant: string;
  readonly onErased: () => void;
}

/** What records are chosen by. */
const ways = ['email', 'iccid', 'ids'] as const;
type Way = (typeof ways)[number];

/** Erases records of a subscriber, of a SIM or by their ids, once the name of the tenant is typed. */
export function EraseRecords({ tenant, onErased }: EraseRecordsProps) {
  const [way, setWay] = useState<Way>('email');
  const [text, setText] = useState('');
  const [isAsking, setAsking] = useState(false);
  const [result, setResult] = useState<string>();
  const ids = readIds(text);
  const value = way === 'iccid' ? text.replaceAll(/\s/g, '') : text.trim();
  const isComplete = way === 'ids' ? ids.length > 0 : value !== '';
  const what = way === 'ids' ? texts.count(ids.length) : texts.all[way](value);
  const { run, isBusy, error } = useAction(async (idempotencyKey) => {
    const { deleted, missing } = await call('eraseSubscriptions', {
      params: { tenant },
      body: way === 'ids' ? { ids } : { [way]: value },
      idempotencyKey,
    });
    setResult(texts.done(deleted, missing));
    setAsking(false);
    setText('');
    onErased();
  });
  return (
    <Card title={texts.title}>
      <div class="stack">
        <Select
          label={texts.by}
          options={ways.map((each) => ({ value: each, label: texts.ways[each] }))}
          value={way}
          onChange={({ currentTarget }) => setWay(ways.find((each) => each === currentTarget.value) ?? 'ids')}
        />
        {way === 'ids' ? (
          <TextArea
            label={texts.ways.ids}
            hint={texts.hint}
            rows={4}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            spellcheck={false}
          />
        ) : (
          <TextField
            label={texts.ways[way]}
            hint={texts.sourceHint}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            autocomplete="off"
            spellcheck={false}
          />
        )}
        <p role="status">{result}</p>
        <ActionButton
          permission="eraseSubscriptions"
          variant="danger"
          icon={Eraser}
          disabled={!isComplete}
          onClick={() => setAsking(true)}
        >
          {isComplete ? texts.button(what) : texts.title}
        </ActionButton>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={texts.question(what)}
          typed={tenant}
          confirmLabel={texts.confirm}
          isBusy={isBusy}
          error={error}
          onConfirm={() => void run()}
          onClose={() => setAsking(false)}
        >
          <p>{texts.effect}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}
