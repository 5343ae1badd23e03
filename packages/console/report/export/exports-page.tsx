import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Download, RotateCcw } from '../../ui/icons.ts';
import { Link } from '../../ui/location.tsx';
import { type ExportEntry, exportEntries, sentenceOf, startExport } from './export-store.ts';
import { exportStrings } from './export-strings.ts';
import { ExportBar } from './export-tray.tsx';

const text = exportStrings;

/** The exports of this visit. */
export function ExportsPage() {
  const entries = exportEntries.value;
  return (
    <>
      {entries.length === 0 ? (
        <Card>
          <EmptyState icon={Download} title={text.none} text={text.noneHint}>
            <Link class="button primary" href="/console/subscriptions">
              Go to the subscriptions
            </Link>
          </EmptyState>
        </Card>
      ) : (
        <ul class="exports stack" aria-label={text.tray}>
          {entries.map((entry) => (
            <li key={entry.id}>
              <Entry entry={entry} />
            </li>
          ))}
        </ul>
      )}
      <p class="soft">{text.limits}</p>
    </>
  );
}

function Entry({ entry }: { entry: ExportEntry }) {
  const { file, description, startedAt, state, cancel } = entry;
  return (
    <Card
      title={file}
      actions={
        state.kind === 'running' ? (
          <Button onClick={cancel}>{text.cancel}</Button>
        ) : (
          <Button icon={RotateCcw} onClick={() => void startExport(entry)}>
            Export again
          </Button>
        )
      }
    >
      <div class="stack gap-2">
        <p class="soft">
          <bdi>{description}</bdi>, started at <DateTime value={startedAt} text={timeOf(startedAt)} />
        </p>
        {state.kind === 'running' && <ExportBar entry={entry} />}
        <p data-kind={state.kind}>{sentenceOf(state)}</p>
        {state.kind === 'failed' && <ErrorNote error={state.error} />}
        {state.kind === 'saved' && (
          <p class="long">
            {text.size(state.result.bytes)} · SHA-256 <code>{state.result.sha256}</code>
            <CopyButton text={state.result.sha256} what="checksum" isInline />
          </p>
        )}
      </div>
    </Card>
  );
}

const timeOf = (date: Date): string => date.toTimeString().slice(0, 5);
