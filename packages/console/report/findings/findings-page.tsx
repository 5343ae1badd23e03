import { useState } from 'preact/hooks';
import type { SubscriptionFinding, SubscriptionFindings } from '../../../client/index.ts';
import { Card } from '../../ui/card.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { Link } from '../../ui/location.tsx';
import { LastValue, useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { session } from '../session/session.ts';
import { strings } from '../strings.ts';
import { type ReportFilters, wholeReport } from '../subscriptions/report-state.ts';
import { reportHref } from '../subscriptions/report-store.ts';

const text = strings.findings;

/** What is contradictory or missing in the subscriptions; each finding opens its records. */
export function FindingsPage() {
  const [last] = useState(() => new LastValue<SubscriptionFindings>(session));
  const load = useLoad(() => reports.findings(), last);
  return (
    <LoadedPart load={load} height={320}>
      {({ total, evaluated_at: moment, findings }) => (
        <div class="stack">
          <p class="soft">{text.hint(total, formatMinute(moment))}</p>
          {findings.map((finding) => (
            <FindingCard key={finding.kind} finding={finding} moment={moment} />
          ))}
        </div>
      )}
    </LoadedPart>
  );
}

interface FindingCardProps {
  readonly finding: SubscriptionFinding;
  readonly moment: string;
}

function FindingCard({ finding: { kind, count, since, examples }, moment }: FindingCardProps) {
  const filters = filtersOf(kind, moment);
  return (
    <Card
      title={titleOf(kind)}
      actions={
        count > 0 &&
        filters && (
          <Link class="button quiet no-print" href={reportHref({ ...wholeReport, filters })}>
            {text.asList}
          </Link>
        )
      }
    >
      <p>
        <strong>{count === 0 ? text.none : formatCount(count)}</strong>{' '}
        {since !== undefined && <span class="soft">{text.since(formatMinute(since))}</span>}
      </p>
      {count > examples.length && <p class="soft">{text.first(examples.length)}</p>}
      <ul class="finding-examples">
        {examples.map((example) => (
          <Example key={JSON.stringify(example)} example={example} />
        ))}
      </ul>
    </Card>
  );
}

/** A link to the records of an example: filtered by what they have in common, or the only one. */
function Example({ example }: { readonly example: SubscriptionFinding['examples'][number] }) {
  const { iccid, device_id: device, product_id: product, ids } = example;
  const shared = iccid ?? device ?? product;
  const [id = ''] = ids;
  const filters: ReportFilters =
    product === undefined
      ? { status: 'ACTIVE', ...(iccid === undefined ? { 'device-id': device ?? '' } : { iccid }) }
      : { 'product-id': product };
  return (
    <li>
      <Link href={shared === undefined ? reportHref(wholeReport, id) : reportHref({ ...wholeReport, filters })}>
        <bdi>{shared ?? id}</bdi>
      </Link>
    </li>
  );
}

const titleOf = (kind: string): string => (text.kind as Readonly<Record<string, string>>)[kind] ?? kind;

/** The filters that select all records of a kind, if there are such filters. */
function filtersOf(kind: string, moment: string): ReportFilters | undefined {
  if (kind === 'no-status') return { status: 'none' };
  return kind === 'active-past-end' ? { status: 'ACTIVE', 'date-field': 'expiration', before: moment } : undefined;
}
