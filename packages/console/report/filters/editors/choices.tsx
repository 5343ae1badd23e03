import { Button } from '../../../ui/button.tsx';
import { capital } from '../../../ui/capital.ts';
import type { EditorProps } from './editor-props.ts';

/** The usual values of a filter, as buttons. */
export const Choices = ({ filter, onApply }: EditorProps) => (
  <div class="presets">
    {filter.choices?.(new Date()).map(({ value, apply }) => (
      <Button key={value} variant="quiet" onClick={() => onApply(apply)}>
        {capital(value)}
      </Button>
    ))}
  </div>
);
