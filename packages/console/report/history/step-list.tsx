import { CopyButton } from '../../ui/copy-button.tsx';
import { formatMinute } from '../../ui/format-date.ts';
import { DifferenceList } from './difference-list.tsx';
import { historyStrings } from './history-strings.ts';
import type { VersionStep } from './version-steps.ts';

const text = historyStrings;

/** A line of a time line: when, what, and the fields that differ. */
export const StepItem = ({ step }: { readonly step: VersionStep }) => (
  <li class="row gap-3" data-kind={step.kind}>
    <span class="step-time soft">{step.at === undefined ? text.unknownTime : formatMinute(step.at)}</span>
    <div class="step-text row apart">
      <span>{text.kind[step.kind]}</span>
      {step.before && step.after && <DifferenceList before={step.before} after={step.after} />}
    </div>
    {step.importId !== undefined && <CopyButton text={step.importId} what={historyStrings.importId} />}
  </li>
);
