import { useEffect, useState } from 'preact/hooks';
import { ErrorNote } from '../../ui/error-note.tsx';
import { lastRetry } from '../api.ts';
import { liveStrings } from './live-strings.ts';

interface RetryNoteProps {
  /** The request; without it, any that waits after the part of the page is shown. */
  readonly correlationId?: string | undefined;
}

/** Why the client library waits before it sends a request again, and for how long. */
export function RetryNote(props: RetryNoteProps) {
  const [shownAt] = useState(Date.now);
  const [now, setNow] = useState(shownAt);
  const retry = lastRetry.value;
  const isOurs =
    retry !== undefined &&
    ('correlationId' in props ? retry.correlationId === props.correlationId : retry.at >= shownAt);
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
    <div class="stack gap-1">
      <ErrorNote error={retry.error} />
      <p class="soft">{liveStrings.waiting(seconds)}</p>
    </div>
  );
}
