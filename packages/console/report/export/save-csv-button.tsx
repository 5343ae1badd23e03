import { Button } from '../../ui/button.tsx';
import { Download } from '../../ui/icons.ts';
import { saveFile } from '../../ui/save-file.ts';
import { session } from '../session/session.ts';
import { fileName } from './file-name.ts';

interface SaveCsvButtonProps {
  /** What the file has, as a part of its name. */
  readonly what: string;
  readonly csv: () => string;
}

/** Saves what a card shows as a CSV file. */
export function SaveCsvButton({ what, csv }: SaveCsvButtonProps) {
  const { value } = session.state;
  const tenant = 'session' in value ? value.session.tenant : '';
  return (
    <Button
      variant="quiet"
      icon={Download}
      onClick={() => saveFile(fileName(tenant, new Date(), 'csv', what), 'text/csv', csv())}
    >
      CSV
    </Button>
  );
}
