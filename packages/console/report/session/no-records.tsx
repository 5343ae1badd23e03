import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Inbox } from '../../ui/icons.ts';
import { session } from './session.ts';
import { sessionStrings } from './session-strings.ts';

const text = sessionStrings.noRecords;

/** A tenant without subscriptions: what the reader can send to the operator. */
export function NoRecords() {
  const { value } = session.state;
  const command = text.importCommand('session' in value ? value.session.tenant : '');
  return (
    <EmptyState icon={Inbox} title={text.title} text={text.text}>
      <code>{command}</code>
      <CopyButton text={command} what="the command" />
    </EmptyState>
  );
}
