import type { Subscription, SubscriptionFinding, SubscriptionFindings } from '../../../client/index.ts';
import { Card } from '../../ui/card.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { NoRecords } from '../session/no-records.tsx';
import { titles } from '../titles.ts';
import { fieldHeading } from '../words/field-heading.ts';
import { dates, FindingRows, type FindingRowsProps, wordsOf } from './finding-rows.tsx';
import { findingsStrings } from './findings-strings.ts';

const text = findingsStrings;

interface Found {
  readonly found: SubscriptionFindings;
  /** The records of the examples, by id. */
  readonly records: ReadonlyMap<string, Subscription>;
}

async function readFindings(signal: AbortSignal): Promise<Found> {
  const found = await reports.findings({ signal });
  const id = found.findings.flatMap(({ examples }) => examples.flatMap(({ ids }) => ids));
  const records = new Map<string, Subscription>();
  if (id.length > 0) for await (const record of reports.search({ id }, { signal })) records.set(record.id, record);
  return { found, records };
}

/** What is contradictory or missing in the subscriptions, with records that have it. */
export const FindingsPage = () => (
  <LoadedPart load={useLoad(readFindings)} height={320}>
    {(value) => <Findings {...value} />}
  </LoadedPart>
);

function Findings({ found, records }: Found) {
  const { total, evaluated_at: moment, findings } = found;
  const present = findings.filter(({ count }) => count > 0);
  // of no subscription, nothing can be said
  if (total === 0) return <NoRecords />;
  const nought = findings.filter(({ count }) => count === 0);
  return (
    <Card title={present.length === 0 ? text.none : text.found(present.length, findings.length)}>
      <p class="soft">{text.hint(total, formatMinute(moment))}</p>
      {present.length > 0 && <FindingsTable findings={present} records={records} moment={moment} />}
      {nought.length > 0 && <NoughtKinds findings={nought} />}
    </Card>
  );
}

const columns = ['product.name', 'iccid', 'status', ...dates] as const;

type FindingsTableProps = Omit<FindingRowsProps, 'finding'> & Pick<SubscriptionFindings, 'findings'>;

const FindingsTable = ({ findings, ...rest }: FindingsTableProps) => (
  <table class="findings" aria-label={titles.findings}>
    <thead>
      <tr>
        {columns.map((name) => (
          <th key={name} scope="col">
            {fieldHeading(name)}
          </th>
        ))}
      </tr>
    </thead>
    {findings.map((finding) => (
      <FindingRows key={finding.kind} finding={finding} {...rest} />
    ))}
  </table>
);

/** The kinds without a finding, folded. */
const NoughtKinds = ({ findings }: { readonly findings: readonly SubscriptionFinding[] }) => (
  <details class="finding-nought">
    <summary class="soft target">{text.nought(findings.length)}</summary>
    <ul>
      {findings.map(({ kind, count }) => (
        <li key={kind}>
          {wordsOf(kind).name}: {formatCount(count)}
        </li>
      ))}
    </ul>
  </details>
);
