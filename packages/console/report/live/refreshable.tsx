import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { RefreshOffer } from './refresh-offer.tsx';
import { RetryNote } from './retry-note.tsx';

/**
 * A page with the offer to refresh, and why it waits. A refresh mounts its parts again, which load
 * their data.
 */
export function refreshable(Page: ComponentType): ComponentType {
  return () => {
    const [load, setLoad] = useState(0);
    return (
      <>
        <RefreshOffer load={load} onRefresh={() => setLoad(load + 1)} />
        <RetryNote key={`retry ${load}`} />
        <Page key={load} />
      </>
    );
  };
}
