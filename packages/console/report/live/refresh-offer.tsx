import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { RefreshCw } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import { asOf } from '../past/as-of.ts';
import { strings } from '../strings.ts';
import { type ChangesSeen, ChangeWatch, noChanges } from './change-watch.ts';
import { pollChanges } from './poll-changes.ts';

const text = strings.live;
const seen = signal(noChanges);

/** One watch for all pages: only one of them is open at a time. */
const watch = new ChangeWatch({
  poll: pollChanges,
  isActive: () => document.visibilityState === 'visible' && navigator.onLine,
  setTimer: (run, ms) => window.setTimeout(run, ms),
  clearTimer: (timer) => window.clearTimeout(timer as number | undefined),
  onChange(changes) {
    if (sentenceOf(changes) !== sentenceOf(seen.peek())) announce(sentenceOf(changes));
    seen.value = changes;
  },
});

for (const event of ['visibilitychange', 'online', 'offline'])
  (event === 'visibilitychange' ? document : window).addEventListener(event, () => watch.resume());

interface RefreshOfferProps {
  /** Another value for each time that the page begins to load its data. */
  readonly load: unknown;
  /** Loads the data again. */
  readonly onRefresh: () => void;
}

/** Says how many subscriptions changed since the page was loaded, and offers to load it again. */
export function RefreshOffer({ load, onRefresh }: RefreshOfferProps) {
  const isPresent = asOf.value === undefined;
  useEffect(() => {
    if (!isPresent) return undefined; // the past does not change
    watch.begin();
    return () => watch.stop();
  }, [load, isPresent]);
  const sentence = sentenceOf(seen.value);
  if (sentence === '' || !isPresent) return null;
  return (
    <div class="refresh-offer no-print">
      <p>{sentence}</p>
      <Button variant="quiet" icon={RefreshCw} onClick={onRefresh}>
        {text.refresh}
      </Button>
    </div>
  );
}

function sentenceOf({ count, more, replaced }: ChangesSeen): string {
  if (replaced) return text.replaced;
  return count === 0 ? '' : text.changed(count, more);
}
