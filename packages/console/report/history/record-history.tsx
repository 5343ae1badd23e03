import { ApiError } from '../../../client/error.ts';
import type { SubscriptionHistory } from '../../../client/index.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { zoneName } from '../zone/local-days.ts';
import { historyStrings } from './history-strings.ts';
import { StepItem } from './step-list.tsx';
import { stepsOf } from './version-steps.ts';

const text = historyStrings;

/** What happened to a record, newest first, as far as it is kept. Nothing if there is no trace of it. */
export function RecordHistory({ id }: { readonly id: string }) {
  const load = useLoad((signal) => readHistory(id, signal), { key: id });
  if (load.kind === 'loading' || (load.kind === 'ready' && load.value === undefined)) return null;
  return (
    <section aria-label={text.title}>
      <h3 class="label">{text.title}</h3>
      {load.kind === 'failed' && <ErrorNote error={load.error} onRetry={load.retry} />}
      {load.kind === 'ready' && load.value && <History history={load.value} />}
    </section>
  );
}

/** The history of a record, if there is a trace of it. An id that no record can have is rejected with 400. */
const readHistory = (id: string, signal: AbortSignal): Promise<SubscriptionHistory | undefined> =>
  reports.history(id, { signal }).catch((error: unknown) => {
    if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return undefined;
    throw error;
  });

function History({ history }: { readonly history: SubscriptionHistory }) {
  return (
    <>
      <p class="soft">{text.hint(zoneName())}</p>
      <ol class="steps lines">
        {stepsOf(history).map((step) => (
          <StepItem key={`${step.revision} ${step.kind}`} step={step} />
        ))}
      </ol>
      {history.has_more && <p class="soft">{text.hasMore}</p>}
    </>
  );
}
