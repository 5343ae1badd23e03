import { useEffect, useState } from 'preact/hooks';
import type { LoadSummary } from '../../../contract/load.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Check, FileUp, X } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import { ActionButton } from '../parts/action-button.tsx';
import { RadioField } from '../parts/fields.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { strings } from '../strings.ts';
import { ColumnMap } from './column-map.tsx';
import { DropZone } from './drop-zone.tsx';
import { FirstRecords } from './first-records.tsx';
import { ImportCounts } from './import-counts.tsx';
import { type ImportMode, importModes } from './import-modes.ts';
import { ImportProgress } from './import-progress.tsx';
import { RejectedRows } from './rejected-rows.tsx';
import { useColumns } from './use-columns.ts';
import { type ImportPlan, useImport } from './use-import.ts';

const { form: texts } = strings.imports;

/** Encodings of files, the most frequent ones first. */
const encodings = [
  ...['utf-8', 'windows-1252', 'windows-1250', 'windows-1251', 'windows-1253', 'windows-1254', 'windows-1255'],
  ...['windows-1256', 'windows-1257', 'iso-8859-2', 'koi8-r', 'ibm866', 'macintosh', 'shift_jis', 'euc-jp'],
  ...['gb18030', 'big5', 'euc-kr', 'utf-16le', 'utf-16be'],
];

interface ImportFormProps {
  readonly tenant: string;
  /** The saved mapping of columns as JSON. */
  readonly saved: string | null;
  readonly onLoaded: () => void;
}

/** Imports a file into a tenant: a dry run first, then the import. */
export function ImportForm({ tenant, saved, onLoaded }: ImportFormProps) {
  const [file, setFile] = useState<File>();
  const [mode, setMode] = useState<ImportMode>('load');
  const [remove, setRemove] = useState('');
  const [isAsking, setAsking] = useState(false);
  const { state, run, reset } = useImport(tenant, texts.unknownFormat);
  const [charset, setCharset] = useState<string>('utf-8');
  const columns = useColumns(file, saved, charset);
  const { mapping, saves, missing } = columns;
  const plan: ImportPlan | undefined = file && { file, mode, charset, remove, mapping, saves };
  const change =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      reset(); // a dry run is about one file and one mode
      set(value);
    };
  const outcome = state.kind === 'done' ? state.outcome : undefined;
  const isChecked = state.kind === 'done' && state.outcome.dry_run;
  const isLoaded = state.kind === 'done' && !state.outcome.dry_run;
  useEffect(() => {
    if (state.kind === 'done') announce(titleOf(state.outcome));
    if (isLoaded || state.kind === 'failed') onLoaded(); // a failed import is listed too
  }, [state]);
  const load = (): void => {
    setAsking(false);
    if (plan !== undefined) void run(plan, false);
  };
  return (
    <div class="stack">
      <DropZone file={file} onFile={change(setFile)} />
      {file !== undefined && (
        <FileOptions
          {...{ mode, remove, charset }}
          onMode={change(setMode)}
          onRemove={change(setRemove)}
          onCharset={change(setCharset)}
        />
      )}
      {columns.header.length > 0 && (
        <ColumnMap {...columns} onChange={change(columns.setChoices)} onSaves={columns.setSaves} />
      )}
      {missing.length > 0 && <p class="warning-note">{texts.columns.missing(missing.join(', '))}</p>}
      {plan !== undefined && state.kind !== 'sending' && (
        <div class="row gap-3">
          <ActionButton
            permission="loadSubscriptions"
            variant={isChecked || isLoaded ? 'secondary' : 'primary'}
            icon={Check}
            disabled={columns.isReading || missing.length > 0}
            onClick={() => void run(plan, true)}
          >
            {texts.check}
          </ActionButton>
          {isChecked && outcome !== undefined && canLoad(mode, outcome) && (
            <Button
              variant="primary"
              icon={FileUp}
              onClick={() => (mode === 'replace' ? setAsking(true) : void run(plan, false))}
            >
              {texts.load[mode](outcome.accepted)}
            </Button>
          )}
          <Button variant="quiet" icon={X} onClick={() => change(setFile)(undefined)}>
            Clear
          </Button>
        </div>
      )}
      {state.kind === 'sending' && <ImportProgress isDryRun={state.isDryRun} sent={state.sent} onCancel={reset} />}
      {state.kind === 'failed' && <ErrorNote error={state.error} />}
      {isChecked && mode === 'strict' && state.outcome.rejected > 0 && (
        <p class="warning-note">{texts.strictRefused(state.outcome.rejected)}</p>
      )}
      {outcome !== undefined && <Outcome outcome={outcome} />}
      {isAsking && outcome !== undefined && (
        <FormDialog
          title={texts.replaceQuestion(tenant)}
          typed={tenant}
          submit={texts.load.replace(outcome.accepted)}
          onSubmit={load}
          onClose={() => setAsking(false)}
        >
          <p>{texts.replaceEffect(outcome)}</p>
        </FormDialog>
      )}
    </div>
  );
}

interface FileOptionsProps extends Pick<ImportPlan, 'mode' | 'remove' | 'charset'> {
  readonly onMode: (mode: ImportMode) => void;
  readonly onRemove: (remove: string) => void;
  readonly onCharset: (charset: string) => void;
}

/** How a file is read and loaded. */
const FileOptions = ({ mode, remove, charset, onMode, onRemove, onCharset }: FileOptionsProps) => (
  <>
    <RadioField
      row={{ label: 'How to import', words: texts.modes, meanings: texts.modeHints }}
      known={importModes}
      value={mode}
      onChange={(chosen) => onMode(importModes.find((each) => each === chosen) ?? 'load')}
    />
    {mode === 'replace' && (
      <TextField
        label="Records to remove"
        hint={texts.removeHint}
        inputMode="numeric"
        value={remove}
        onInput={({ currentTarget }) => onRemove(currentTarget.value)}
      />
    )}
    <Select
      label={texts.encoding}
      options={encodings.map((each) => ({ value: each, label: each }))}
      value={charset}
      onChange={({ currentTarget }) => onCharset(currentTarget.value)}
    />
  </>
);

/** A replacement needs every row too, which a dry run that succeeded has proven. */
const canLoad = (mode: ImportMode, { accepted, rejected }: LoadSummary): boolean =>
  mode === 'replace' || (accepted > 0 && (mode === 'load' || rejected === 0));

const titleOf = ({ outcome, dry_run: isDryRun, accepted, rejected }: LoadSummary): string =>
  texts.outcome(strings.imports.outcomeOf(outcome, accepted, rejected), isDryRun);

const Outcome = ({ outcome }: { outcome: LoadSummary }) => (
  <section class="stack" aria-label={titleOf(outcome)}>
    <h3>{titleOf(outcome)}</h3>
    <ImportCounts counts={outcome} />
    {outcome.encoding !== undefined && <p>{texts.readAs(outcome.encoding)}</p>}
    {outcome.notes?.map((note) => (
      <p key={note}>{note}</p>
    ))}
    {outcome.rejected > 0 && <RejectedRows id={outcome.import_id} rows={outcome.errors} rejected={outcome.rejected} />}
    {outcome.first_records?.[0] !== undefined && (
      <>
        <h3>{texts.firstRecords}</h3>
        <FirstRecords records={outcome.first_records} />
      </>
    )}
  </section>
);
