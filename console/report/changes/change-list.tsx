import type { SubscriptionChange } from '../../../src/client/index.ts';
import { isRemoved } from '../../../src/client/records.ts';
import { Link } from '../../ui/location.tsx';
import { StatusLabel } from '../../ui/status-label.tsx';
import { strings } from '../strings.ts';
import { shortenIccid } from '../subscriptions/iccid.ts';

/** Changed records as they are now, and the ids of removed ones. */
export const ChangeList = ({ changes }: { readonly changes: readonly SubscriptionChange[] }) => (
  <ul class="change-list">
    {changes.map((change) => (
      <li key={change.id}>
        {isRemoved(change) ? (
          <>
            <span class="change-id">{change.id}</span>
            <span class="soft">{strings.changes.removed}</span>
          </>
        ) : (
          <>
            <Link class="change-link" href={`/console/subscriptions/${encodeURIComponent(change.id)}`}>
              <span class="change-product">{change.product.name}</span>
              <span class="soft">{shortenIccid(change.iccid)}</span>
            </Link>
            <StatusLabel status={change.status ?? null} />
          </>
        )}
      </li>
    ))}
  </ul>
);
