import { useState } from 'preact/hooks';
import type { ListParameter } from '../../../contract/listed-values.ts';
import { type Fault, faultSentence } from '../../../contract/problem.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { TextField } from '../../ui/field.tsx';
import { Link2Off, UserSearch } from '../../ui/icons.ts';
import { Link } from '../../ui/location.tsx';
import { ListEditor } from '../filters/editors/list-editor.tsx';
import { valueFilters } from '../filters/value-filters.ts';
import { valueFault } from '../link/check-value.ts';
import { type ReportState, withFilters } from '../link/report-state.ts';
import { completeLink, showReport, subscriptionsPath } from '../store/report-store.ts';
import { strings } from '../strings.ts';

const text = strings.subscriptions;

/** What is wrong with a link. No rows are shown: without the faulty filter there would be more. */
export const BadLink = ({ faults }: { faults: readonly Fault[] }) => (
  <div role="alert" class="bad-link">
    <EmptyState icon={Link2Off} title={text.badLink.title} text={text.badLink.text}>
      <ul class="link-faults">
        {faults.map((fault) => (
          <li key={`${fault.parameter} ${fault.rule}`}>
            <bdi>{faultSentence(fault)}</bdi>
          </li>
        ))}
      </ul>
      <Link class="button secondary" href={subscriptionsPath}>
        {text.badLink.whole}
      </Link>
    </EmptyState>
  </div>
);

/** Asks for the address that the link hides. */
export function EmailPrompt({ state }: { state: ReportState }) {
  const [typed, setTyped] = useState('');
  const [rule, setRule] = useState<string>();
  return (
    <EmptyState icon={UserSearch} title={text.askForEmail.title} text={text.askForEmail.text}>
      <form
        class="email-prompt"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const fault = valueFault('email', typed.trim());
          setRule(fault?.rule);
          if (fault === undefined) completeLink({ email: typed.trim() });
        }}
      >
        <TextField
          label={valueFilters.subscriber.label}
          value={typed}
          error={rule && text.editor.rule(rule)}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="primary">
          {text.askForEmail.show}
        </Button>
        <Button variant="quiet" onClick={() => showReport(withFilters(state, { email: undefined }))}>
          {text.askForEmail.remove}
        </Button>
      </form>
    </EmptyState>
  );
}

/** Asks for the values that the link has no room for. */
export const ListPrompt = ({ state, name }: { readonly state: ReportState; readonly name: ListParameter }) => (
  <EmptyState icon={UserSearch} title={text.list.ask.title[name]} text={text.list.ask.text}>
    <div class="email-prompt">
      <ListEditor
        name={name}
        values={[]}
        action={text.askForEmail.show}
        onList={(listed) => completeLink({ listed })}
      />
      <Button variant="quiet" onClick={() => showReport(withFilters(state, { listed: undefined }))}>
        {text.askForEmail.remove}
      </Button>
    </div>
  </EmptyState>
);
