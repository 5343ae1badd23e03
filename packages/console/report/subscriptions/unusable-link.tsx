import type { ListParameter } from '../../../contract/listed-values.ts';
import { type Fault, faultSentence } from '../../../contract/problem.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Link2Off, UserSearch } from '../../ui/icons.ts';
import { Link } from '../../ui/location.tsx';
import { ListEditor } from '../filters/editors/list-editor.tsx';
import { TextEditor } from '../filters/editors/text-editor.tsx';
import { filters } from '../filters/filters.ts';
import { type FilterChanges, type ReportState, withFilters } from '../link/report-state.ts';
import { completeLink, showReport, subscriptionsPath } from '../store/report-store.ts';
import { subscriptionsStrings } from './subscriptions-strings.ts';

const text = subscriptionsStrings;

/** What is wrong with a link. No rows are shown: without the faulty filter there would be more. */
export const BadLink = ({ faults }: { faults: readonly Fault[] }) => (
  <div role="alert" class="bad-link">
    <EmptyState icon={Link2Off} title={text.badLink.title} text={text.badLink.text}>
      <ul class="link-faults stack gap-2 long">
        {faults.map((fault) => (
          <li key={`${fault.parameter} ${fault.rule}`}>
            <bdi>{faultSentence(fault)}</bdi>
          </li>
        ))}
      </ul>
      <Link class="button secondary" href={subscriptionsPath}>
        Show all subscriptions
      </Link>
    </EmptyState>
  </div>
);

/** Asks for the address that the link hides. */
export const EmailPrompt = ({ state }: { readonly state: ReportState }) => (
  <EmptyState icon={UserSearch} title={text.askForEmail.title} text={text.askForEmail.text}>
    <div class="prompt stack gap-3">
      <TextEditor
        filter={filters.subscriber}
        action={text.askForEmail.show}
        onApply={({ email }) => completeLink({ email })}
      />
      <RemoveButton state={state} changes={{ email: undefined }} />
    </div>
  </EmptyState>
);

/** Asks for the values that the link has no room for. */
export const ListPrompt = ({ state, name }: { readonly state: ReportState; readonly name: ListParameter }) => (
  <EmptyState icon={UserSearch} title={text.askForList.title[name]} text={text.askForList.text}>
    <div class="prompt stack gap-3">
      <ListEditor
        name={name}
        values={[]}
        action={text.askForEmail.show}
        onList={(listed) => completeLink({ listed })}
      />
      <RemoveButton state={state} changes={{ listed: undefined }} />
    </div>
  </EmptyState>
);

const RemoveButton = ({ state, changes }: { readonly state: ReportState; readonly changes: FilterChanges }) => (
  <Button variant="quiet" onClick={() => showReport(withFilters(state, changes))}>
    {text.askForEmail.remove}
  </Button>
);
