import { useState } from 'preact/hooks';
import { Icon } from '../../ui/icon.tsx';
import { FileUp } from '../../ui/icons.ts';
import { formatBytes } from '../parts/format-bytes.ts';
import { refusalOf } from '../parts/permission.ts';
import { strings } from '../strings.ts';

const { form: texts } = strings.imports;

interface DropZoneProps {
  readonly file: File | undefined;
  readonly onFile: (file: File) => void;
}

/** Takes a file that is dropped or chosen. */
export function DropZone({ file, onFile }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const refusal = refusalOf('loadSubscriptions');
  const take = (files: FileList | null | undefined): void => {
    const [chosen] = files ?? [];
    if (chosen !== undefined && refusal === undefined) onFile(chosen);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field inside does the same by keyboard
    <div
      class="drop-zone"
      data-over={isOver || undefined}
      title={refusal}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(refusal === undefined);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <Icon icon={FileUp} size={24} />
      <p>
        {file === undefined ? 'Drop a CSV or NDJSON file here, or' : texts.chosen(file.name, formatBytes(file.size))}{' '}
        <label class="file-choice">
          <span>{file === undefined ? 'choose a file' : 'choose another one'}</span>
          <input
            type="file"
            class="visually-hidden"
            accept=".csv,.ndjson,.jsonl,.gz,.zst"
            disabled={refusal !== undefined}
            onChange={({ currentTarget }) => {
              take(currentTarget.files);
              currentTarget.value = ''; // the same file can be chosen again after it was changed
            }}
          />
        </label>
      </p>
      <p class="soft">{refusal ?? texts.formats}</p>
    </div>
  );
}
