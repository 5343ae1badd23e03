import type { Subscription } from '../../../client/index.ts';
import { formatCount } from '../../ui/format-count.ts';
import { Link } from '../../ui/location.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { wholeReport } from '../link/report-state.ts';
import { asOf } from '../past/as-of.ts';
import { reportHref } from '../store/report-store.ts';
import { recordStrings } from './record-strings.ts';

const text = recordStrings.related;

/** Links to the subscriptions of the same SIM, with their number, of the same device and plan. */
export function RelatedRecords({ record }: { readonly record: Subscription }) {
  const { iccid, device_id, product } = record;
  const counted = useLoad(
    (signal) => reports.summary({ iccid, by: 'status', 'as-of': asOf.peek()?.instant }, { signal }),
    { key: iccid },
  );
  // the link works without its number
  const count = counted.kind === 'ready' ? counted.value.total : undefined;
  const links = [
    { label: count === undefined ? 'All of this SIM' : text.simCount(formatCount(count), count), filters: { iccid } },
    { label: 'All of this device', filters: { 'device-id': device_id } },
    { label: 'All of this plan', filters: { 'plan-id': product.plan_id ?? '' } },
  ];
  return (
    <nav class="stack gap-1" aria-label={text.title}>
      <h3 class="label">{text.title}</h3>
      <ul class="row apart">
        {links
          .filter(({ filters }) => Object.values(filters).every((value) => value !== ''))
          .map(({ label, filters }) => (
            <li key={label}>
              <Link class="target" href={reportHref({ ...wholeReport, filters })}>
                {label}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  );
}
