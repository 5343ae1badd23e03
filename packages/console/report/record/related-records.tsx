import { useEffect, useState } from 'preact/hooks';
import type { Subscription } from '../../../client/index.ts';
import { formatCount } from '../../ui/format-count.ts';
import { Link } from '../../ui/location.tsx';
import { reports } from '../api.ts';
import { wholeReport } from '../link/report-state.ts';
import { simHref } from '../link/sim-path.ts';
import { asOf } from '../past/as-of.ts';
import { reportHref } from '../store/report-store.ts';
import { strings } from '../strings.ts';

const text = strings.record.related;

/** Links to the subscriptions of the same SIM, with their number, of the same device and plan. */
export function RelatedRecords({ record }: { readonly record: Subscription }) {
  const { iccid, device_id, product } = record;
  const count = useCountOfSim(iccid);
  const links = [
    { label: count === undefined ? text.sim : text.simCount(formatCount(count), count), filters: { iccid } },
    { label: text.device, filters: { 'device-id': device_id } },
    { label: text.plan, filters: { 'plan-id': product.plan_id ?? '' } },
  ];
  return (
    <nav class="related" aria-label={text.title}>
      <h3>{text.title}</h3>
      <ul>
        {links
          .filter(({ filters }) => Object.values(filters).every((value) => value !== ''))
          .map(({ label, filters }) => (
            <li key={label}>
              <Link href={reportHref({ ...wholeReport, filters })}>{label}</Link>
            </li>
          ))}
        {iccid !== '' && (
          <li>
            <Link href={simHref(iccid)}>{text.timeLine}</Link>
          </li>
        )}
      </ul>
    </nav>
  );
}

/** The number of subscriptions of a SIM; `undefined` until it is known. */
function useCountOfSim(iccid: string): number | undefined {
  const [count, setCount] = useState<number>();
  useEffect(() => {
    const abort = new AbortController();
    setCount(undefined);
    reports.summary({ iccid, by: 'status', 'as-of': asOf.peek()?.instant }, { signal: abort.signal }).then(
      ({ total }) => setCount(total),
      () => undefined, // the link works without its number
    );
    return () => abort.abort();
  }, [iccid]);
  return count;
}
