import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../client/error.ts';
import type { SubscriptionHistory } from '../../../client/index.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { reports } from '../api.ts';
import { strings } from '../strings.ts';
import { zoneName } from '../zone/local-days.ts';
import { StepItem } from './step-list.tsx';
import { stepsOf } from './version-steps.ts';

const text = strings.history;

type State = { readonly history: SubscriptionHistory } | { readonly error: unknown } | undefined;

/** What happened to a record, newest first, as far as it is kept. Nothing if there is no trace of it. */
export function RecordHistory({ id }: { readonly id: string }) {
  const [state, setState] = useState<State>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState(undefined);
    reports.history(id, { signal: abort.signal }).then(
      (history) => setState({ history }),
      (error: unknown) => {
        if (!abort.signal.aborted && !isUnknown(error)) setState({ error });
      },
    );
    return () => abort.abort();
  }, [id, attempt]);
  if (state === undefined) return null;
  return (
    <section class="record-history" aria-label={text.title}>
      <h3>{text.title}</h3>
      {'error' in state ? (
        <ErrorNote error={state.error} onRetry={() => setAttempt(attempt + 1)} />
      ) : (
        <History history={state.history} />
      )}
    </section>
  );
}

/** An id that no record can have is rejected with 400. */
const isUnknown = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 404 || error.status === 400);

function History({ history }: { readonly history: SubscriptionHistory }) {
  return (
    <>
      <p class="soft">{text.hint(zoneName())}</p>
      <ol class="steps">
        {stepsOf(history).map((step) => (
          <StepItem key={`${step.revision} ${step.kind}`} step={step} />
        ))}
      </ol>
      {history.has_more && <p class="soft">{text.hasMore}</p>}
    </>
  );
}
