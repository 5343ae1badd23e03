import { Button } from '../../ui/button.tsx';
import { strings } from '../strings.ts';

const { form: texts } = strings.imports;

interface ImportProgressProps {
  readonly isDryRun: boolean;
  /** The part of the file that was sent, from 0 to 1. */
  readonly sent: number;
  readonly onCancel: () => void;
}

/** How much of the file was sent; the service may still check or write rows after that. */
export const ImportProgress = ({ isDryRun, sent, onCancel }: ImportProgressProps) => (
  <div class="import-progress">
    <progress aria-label={texts.sending} value={sent} max={1} />
    <span>{sent < 1 ? texts.sent(Math.floor(sent * 100)) : isDryRun ? 'Checking the rows' : 'Importing the rows'}</span>
    <Button onClick={onCancel}>{strings.cancel}</Button>
  </div>
);
