import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { RefreshCw } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import { asOf } from '../past/as-of.ts';
import { type ChangesSeen, watchChanges } from './change-watch.ts';
import { liveStrings } from './live-strings.ts';
import { pollChanges } from './poll-changes.ts';

const text = liveStrings;

interface RefreshOfferProps {
  /** Another value for each time that the page begins to load its data. */
  readonly load: unknown;
  /** Loads the data again. */
  readonly onRefresh: () => void;
}

/** Says how many subscriptions changed since the page was loaded, and offers to load it again. */
export function RefreshOffer({ load, onRefresh }: RefreshOfferProps) {
  const isPresent = asOf.value === undefined;
  const [sentence, setSentence] = useState('');
  useEffect(() => {
    setSentence('');
    if (!isPresent) return undefined; // the past does not change
    return watchPage((seen) => setSentence(sentenceOf(seen)));
  }, [load, isPresent]);
  useEffect(() => {
    if (sentence !== '') announce(sentence);
  }, [sentence]);
  if (sentence === '' || !isPresent) return null;
  return (
    <div class="refresh-offer note row no-print">
      <p>{sentence}</p>
      <Button variant="quiet" icon={RefreshCw} onClick={onRefresh}>
        Refresh
      </Button>
    </div>
  );
}

/** Watches the changes while the page is visible and has a network. Returns how to stop. */
function watchPage(onChange: (seen: ChangesSeen) => void): () => void {
  const isActive = (): boolean => document.visibilityState === 'visible' && navigator.onLine;
  const { resume, stop } = watchChanges({ poll: pollChanges, isActive, onChange });
  const left = new AbortController();
  document.addEventListener('visibilitychange', resume, { signal: left.signal });
  for (const event of ['online', 'offline']) window.addEventListener(event, resume, { signal: left.signal });
  return () => {
    left.abort();
    stop();
  };
}

function sentenceOf({ count, more, replaced }: ChangesSeen): string {
  if (replaced) return text.replaced;
  return count === 0 ? '' : text.changed(count, more);
}
