import { useEffect, useState } from 'preact/hooks';
import { ErrorNote } from '../../ui/error-note.tsx';
import { lastRetry } from '../api.ts';
import { strings } from '../strings.ts';
import { pending } from './report-store.ts';

const text = strings.subscriptions;

/** Why the client library waits before it sends the request again, and for how long. */
export function RetryNote() {
  const [now, setNow] = useState(Date.now());
  const retry = lastRetry.value;
  const isOurs = retry !== undefined && retry.correlationId === pending.value?.correlationId;
  useEffect(() => {
    if (!isOurs) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOurs, retry]);
  const seconds = isOurs ? Math.ceil((retry.at + retry.waitMs - now) / 1_000) : 0;
  // a shorter wait ends before the note is read
  if (!isOurs || retry.waitMs < 2_000 || seconds <= 0) return null;
  return (
    <div class="retry-note">
      <ErrorNote error={retry.error} />
      <p class="soft">{text.waiting(seconds)}</p>
    </div>
  );
}
