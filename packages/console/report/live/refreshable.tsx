import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { RefreshOffer } from './refresh-offer.tsx';

/** A page with the offer to refresh: the parts are then mounted again, and load their data. */
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
