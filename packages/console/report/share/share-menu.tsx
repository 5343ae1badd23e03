import { useState } from 'preact/hooks';
import type { ExportQuery } from '../../../client/index.ts';
import { Button } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy-button.tsx';
import { Copy, type IconNode, Link2 } from '../../ui/icons.ts';
import { announce, announceShown } from '../../ui/live-region.tsx';
import { Popover } from '../../ui/popover.tsx';
import { strings as shared } from '../../ui/strings.ts';
import { withDates } from '../export/last-dates.ts';
import { exportQueryOf, type ReportState } from '../link/report-state.ts';
import { exportCommand, linkCommand } from '../source/curl-command.ts';
import { reportHref } from '../store/report-store.ts';
import { shareStrings } from './share-strings.ts';

const text = shareStrings;

/** The question of the page as its link, and as commands that export what it selects. */
export const ShareMenu = ({ state }: { readonly state: ReportState }) => (
  <Popover label={text.menu} icon={Link2}>
    {() => <CopyActions state={state} />}
  </Popover>
);

const commandFile = 'subscriptions.csv';

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
    <div class="share stack gap-2">
      {action(Link2, 'Copy link', () => window.location.href)}
      {action(Copy, 'Copy as command', command)}
      {action(Copy, text.copyCurl, curl)}
      <p class="soft small">{text.hint}</p>
    </div>
  );
}
