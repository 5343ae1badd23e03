import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button, IconButton } from '../../ui/button.tsx';
import { X } from '../../ui/icons.ts';
import { currentLocation, Link } from '../../ui/location.tsx';
import { type ExportEntry, exportEntries, sentenceOf } from './export-store.ts';
import { exportStrings } from './export-strings.ts';

const text = exportStrings;

/** Exports shown at once; the page has all of them. */
const shownMax = 2;

/** The exports whose end the person has seen. */
const dismissed = signal<ReadonlySet<number>>(new Set());
let isShown = false;

/** Shows the exports of this visit over all pages, until the person dismisses them. */
export function showExportTray(): void {
  if (isShown) return;
  isShown = true;
  const root = document.createElement('div');
  document.body.append(root);
  render(<ExportTray />, root);
}

function ExportTray() {
  const entries = exportEntries.value.filter(({ id }) => !dismissed.value.has(id));
  // the page of the exports shows them all
  const isVisible = entries.length > 0 && currentLocation.value.path !== '/console/exports';
  useEffect(() => void document.documentElement.toggleAttribute('data-tray', isVisible), [isVisible]);
  if (!isVisible) return null;
  return (
    <section class="export-tray raised stack gap-2 no-print" aria-label={text.tray}>
      {entries.slice(0, shownMax).map((entry) => (
        <TrayEntry key={entry.id} entry={entry} />
      ))}
      <Link href="/console/exports">{text.all}</Link>
    </section>
  );
}

function TrayEntry({ entry }: { entry: ExportEntry }) {
  const { id, file, state, cancel } = entry;
  const dismiss = (): void => {
    dismissed.value = new Set([...dismissed.peek(), id]);
  };
  return (
    <div class="export-tray-entry" data-kind={state.kind}>
      <div class="long">
        <p>
          <bdi>{file}</bdi>
        </p>
        <p class="soft">{sentenceOf(state)}</p>
      </div>
      {state.kind === 'running' ? (
        <Button variant="quiet" onClick={cancel}>
          {text.cancel}
        </Button>
      ) : (
        <IconButton icon={X} label={text.dismiss(file)} onClick={dismiss} />
      )}
      {state.kind === 'running' && <ExportBar entry={entry} />}
    </div>
  );
}

/** How far a running export is. */
export function ExportBar({ entry: { file, state } }: { entry: ExportEntry }) {
  const { rows, totalRows } = (state.kind === 'running' && state.progress) || {};
  const isMeasured = rows !== undefined && totalRows !== undefined;
  return (
    <progress class="export-bar" aria-label={file} {...(isMeasured && { value: rows, max: Math.max(totalRows, 1) })} />
  );
}
