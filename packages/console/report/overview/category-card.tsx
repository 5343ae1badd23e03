import type { SubscriptionSummary } from '../../../client/index.ts';
import { Card } from '../../ui/card.tsx';
import { countOf } from '../../ui/format-count.ts';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { Link } from '../../ui/location.tsx';
import type { Load } from '../../ui/use-load.ts';
import { CountBars } from '../counts/count-bars.tsx';
import { filtersOfCount } from '../counts/count-links.ts';
import { countStrings } from '../counts/count-strings.ts';
import { countRows } from '../counts/counts-table.ts';
import { reportLink } from '../link/report-link.ts';

const rowHeight = 47;
const headHeight = 22;

interface CategoryCardProps {
  readonly title: string;
  readonly by: 'status' | 'product-id';
  readonly load: Load<SubscriptionSummary>;
  /** The largest ones are shown; space is reserved for them. */
  readonly rowsMax: number;
}

/** The subscriptions by status or by product, the most frequent ones first, and a link to all. */
export function CategoryCard({ title, by, load, rowsMax }: CategoryCardProps) {
  const [one, many] = countStrings.values[by];
  return (
    <Card
      title={title}
      actions={
        load.kind === 'ready' && (
          <Link class="button quiet no-print" href={`/console/subscriptions?by=${by}`}>
            {countOf((load.value.by[by] ?? []).length, one, many)}
          </Link>
        )
      }
    >
      <LoadedPart load={load} height={headHeight + rowsMax * rowHeight} isNoted>
        {(summary) => (
          <CountBars
            by={by}
            label={title}
            rows={countRows(by, summary)}
            shown={rowsMax}
            hrefOf={({ value }) => reportLink(filtersOfCount(by, value, {}, new Date()) ?? {})}
          />
        )}
      </LoadedPart>
    </Card>
  );
}
