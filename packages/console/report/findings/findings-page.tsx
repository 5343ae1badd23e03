import type { SubscriptionFinding, SubscriptionFindings } from '../../../client/index.ts';
import { Card } from '../../ui/card.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { LoadedPart } from '../../ui/loaded-part.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { NoRecords } from '../session/no-records.tsx';
import { titles } from '../titles.ts';
import { FindingRows, wordsOf } from './finding-rows.tsx';
import { findingsStrings } from './findings-strings.ts';

const text = findingsStrings;

/** What is contradictory or missing in the subscriptions; each finding opens its records. */
export function FindingsPage() {
  const load = useLoad((signal) => reports.findings({ signal }));
  return (
    <LoadedPart load={load} height={320}>
      {(found) => <Findings found={found} />}
    </LoadedPart>
  );
}

function Findings({ found }: { readonly found: SubscriptionFindings }) {
  const { total, evaluated_at: moment, findings } = found;
  const present = findings.filter(({ count }) => count > 0);
  // of no subscription, nothing can be said
  if (total === 0) return <NoRecords />;
  const nought = findings.filter(({ count }) => count === 0);
  return (
    <Card title={present.length === 0 ? text.none : text.found(present.length, findings.length)}>
      <p class="soft">{text.hint(total, formatMinute(moment))}</p>
      {present.length > 0 && <FindingsTable findings={present} moment={moment} />}
      {nought.length > 0 && <NoughtKinds findings={nought} />}
    </Card>
  );
}

interface FindingsTableProps {
  readonly findings: readonly SubscriptionFinding[];
  readonly moment: string;
}

const FindingsTable = ({ findings, moment }: FindingsTableProps) => (
  <table class="findings" aria-label={titles.findings}>
    <thead>
      <tr>
        <th scope="col">{text.kind}</th>
        <th scope="col">{text.count}</th>
        <th scope="col">{text.since}</th>
        <th scope="col">What it means</th>
        <th scope="col">What to do</th>
      </tr>
    </thead>
    {findings.map((finding) => (
      <FindingRows key={finding.kind} finding={finding} moment={moment} />
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
