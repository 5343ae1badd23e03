import { useEffect, useState } from 'preact/hooks';
import type { ExportQuery } from '../../../client/index.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy-button.tsx';
import { EditorForm } from '../../ui/editor-form.tsx';
import { TextField } from '../../ui/field.tsx';
import { Bookmark, Copy, type IconNode, Link2, X } from '../../ui/icons.ts';
import { announce, announceShown } from '../../ui/live-region.tsx';
import { Link } from '../../ui/location.tsx';
import { Popover } from '../../ui/popover.tsx';
import { strings as shared } from '../../ui/strings.ts';
import { withDates } from '../export/last-dates.ts';
import { exportQueryOf, formatReportState, type ReportState } from '../link/report-state.ts';
import { exportCommand, linkCommand } from '../source/curl-command.ts';
import { reportHref, subscriptionsPath } from '../store/report-store.ts';
import { refreshViews, removeView, savedViews, saveView } from './saved-views.ts';
import { isPersonal } from './view-store.ts';
import { viewStrings } from './view-strings.ts';

const text = viewStrings;

/** The link of a saved view. */
export const viewHref = (search: string): string =>
  search === '' ? subscriptionsPath : `${subscriptionsPath}?${search}`;

/** The saved views, and how to keep or share what the page shows. */
export function ViewsMenu({ state }: { readonly state: ReportState }) {
  useEffect(refreshViews, []);
  return (
    <Popover label={text.menu} icon={Bookmark}>
      {(close) => (
        <div class="views stack gap-3">
          {savedViews.value.length > 0 && (
            <ul aria-label={text.menu}>
              {savedViews.value.map(({ name, search }) => (
                <li key={name} class="spread gap-2">
                  <Link class="plain cut" href={viewHref(search)} onClick={close}>
                    <bdi>{name}</bdi>
                  </Link>
                  <IconButton icon={X} label={shared.remove(name)} onClick={() => removeView(name)} />
                </li>
              ))}
            </ul>
          )}
          <SaveForm state={state} onSaved={close} />
          <CopyActions state={state} />
        </div>
      )}
    </Popover>
  );
}

const nameLengthMax = 60;

function SaveForm({ state, onSaved }: { readonly state: ReportState; readonly onSaved: () => void }) {
  const [error, setError] = useState<string>();
  return (
    <EditorForm
      action={text.save}
      onSubmit={(form) => {
        const name = String(new FormData(form).get('name') ?? '').trim();
        if (name === '') return setError(text.nameRule);
        const search = formatReportState({ ...state, page: undefined });
        if (isPersonal(search)) return setError(text.personalRule);
        saveView({ name, search });
        announce(text.saved(name));
        onSaved();
      }}
    >
      <TextField
        name="name"
        label={text.name}
        hint={text.hint}
        error={error}
        maxLength={nameLengthMax}
        autocomplete="off"
      />
    </EditorForm>
  );
}

const commandFile = 'subscriptions.csv';

/** The question of the page as its link, and as commands that export what it selects. */
function CopyActions({ state }: { readonly state: ReportState }) {
  const { filters, listed } = state;
  const link = (): string => window.location.origin + reportHref({ ...state, page: undefined, by: undefined });
  const query = (): ExportQuery => withDates(exportQueryOf(state), 'csv');
  const curl = (): string => exportCommand(window.location.origin, query(), 'csv', commandFile);
  const command = (): string =>
    linkCommand(link(), { email: filters.email, listed, dates: query().dates }, commandFile);
  // the clipboard has one of them
  const [copied, setCopied] = useState<string>();
  const action = (icon: IconNode, label: string, read: () => string) => (
    <Button
      icon={icon}
      onClick={async () => {
        const done = await copyText(read());
        if (done) announce(shared.copied);
        else announceShown(shared.notCopied);
        setCopied(done ? label : undefined);
      }}
    >
      {copied === label ? shared.copied : label}
    </Button>
  );
  return (
    <div class="stack gap-2">
      {action(Link2, text.copyLink, () => window.location.href)}
      {action(Copy, text.copyCommand, command)}
      {action(Copy, text.copyCurl, curl)}
      <p class="soft small">{text.copyHint}</p>
    </div>
  );
}
