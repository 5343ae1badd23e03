import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { RefreshOffer } from './refresh-offer.tsx';

/** A page with the offer to refresh, which draws it anew: its parts load their data again. */
export function refreshable(Page: ComponentType): ComponentType {
  return () => {
    const [load, setLoad] = useState(0);
    return (
      <>
        <RefreshOffer load={load} onRefresh={() => setLoad(load + 1)} />
        <Page key={load} />
      </>
    );
  };
}
