import { useState } from 'preact/hooks';
import { Select, TextField } from '../../ui/field.tsx';
import { announce } from '../../ui/live-region.tsx';
import { call } from '../call.ts';
import { FormDialog } from '../parts/form-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { strings } from '../strings.ts';

const { keys: texts } = strings;
const purposes = ['access', 'refresh'] as const;
const modes = ['soon', 'now', 'compromised'] as const;

interface RotateKeyProps {
  readonly onRotated: () => void;
  readonly onClose: () => void;
}

/** Rotates a key; a compromised one, whose tokens are rejected, once its purpose is typed. */
export function RotateKey({ onRotated, onClose }: RotateKeyProps) {
  const [purpose, setPurpose] = useState<(typeof purposes)[number]>('access');
  const [mode, setMode] = useState<(typeof modes)[number]>('soon');
  const [typed, setTyped] = useState('');
  const { run, isBusy, error } = useAction(
    async (idempotencyKey, body: { purpose: typeof purpose; mode: typeof mode }) => {
      await call('rotateKeys', { body, idempotencyKey });
      announce(texts.rotated);
      onRotated();
      onClose();
    },
  );
  const isFinal = mode === 'compromised';
  return (
    <FormDialog
      title={texts.rotate}
      submit={texts.rotate}
      variant={isFinal ? 'danger' : 'primary'}
      isBusy={isBusy}
      error={error}
      isComplete={!isFinal || typed.trim() === purpose}
      onSubmit={() => void run({ purpose, mode })}
      onClose={onClose}
    >
      <Select
        label={texts.purpose}
        options={purposes.map((value) => ({ value, label: texts.purposes[value] }))}
        value={purpose}
        onChange={({ currentTarget }) => setPurpose(purposes.find((each) => each === currentTarget.value) ?? 'access')}
      />
      <fieldset class="choices">
        <legend>{texts.mode}</legend>
        {modes.map((each) => (
          <label key={each} class="checkbox choice">
            <input type="radio" name="mode" checked={each === mode} onChange={() => setMode(each)} />
            <span>
              {texts.modes[each].label} <span class="soft">{texts.modes[each].hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {isFinal && (
        <TextField
          label={strings.typeToConfirm(purpose)}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    </FormDialog>
  );
}
