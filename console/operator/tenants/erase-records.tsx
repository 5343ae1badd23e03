import { Eraser } from 'lucide';
import { useState } from 'preact/hooks';
import { Card } from '../../ui/card.tsx';
import { TextArea } from '../../ui/field.tsx';
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

/** Erases the records with the given ids once the name of the tenant is typed. */
export function EraseRecords({ tenant, onErased }: EraseRecordsProps) {
  const [text, setText] = useState('');
  const [isAsking, setAsking] = useState(false);
  const [result, setResult] = useState<string>();
  const ids = readIds(text);
  const { run, isBusy, error } = useAction(async (idempotencyKey) => {
    const { deleted, missing } = await call('eraseSubscriptions', {
      params: { tenant },
      body: { ids },
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
        <TextArea
          label={texts.ids}
          hint={texts.hint}
          rows={4}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          spellcheck={false}
        />
        <p role="status">{result}</p>
        <ActionButton
          permission="eraseSubscriptions"
          variant="danger"
          icon={Eraser}
          disabled={ids.length === 0}
          onClick={() => setAsking(true)}
        >
          {texts.button(ids.length)}
        </ActionButton>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={texts.question(ids.length)}
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
