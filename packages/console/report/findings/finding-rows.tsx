import type { SubscriptionFinding } from '../../../client/index.ts';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { Link } from '../../ui/location.tsx';
import { type ReportFilters, wholeReport } from '../link/report-state.ts';
import { reportHref } from '../store/report-store.ts';
import { findingsStrings } from './findings-strings.ts';

const text = findingsStrings;

interface FindingRowsProps {
  readonly finding: SubscriptionFinding;
  /** Ends before it have passed. */
  readonly moment: string;
}

/** A finding in one row, and its examples in a row each. */
export function FindingRows({ finding, moment }: FindingRowsProps) {
  const { kind, count, since, examples } = finding;
  const { name, means, remedy } = wordsOf(kind);
  return (
    <tbody aria-label={name}>
      <tr>
        <th scope="row">
          {name}
          <span class="finding-notes soft">
            {means} {remedy} {since !== undefined && text.sinceNote(formatMinute(since))}
          </span>
        </th>
        <td>
          <CountLink finding={finding} moment={moment} />
        </td>
        <td>{since === undefined ? <span class="soft">not known</span> : `${formatMinute(since)} UTC`}</td>
        <td>{means}</td>
        <td>{remedy}</td>
      </tr>
      {examples.map((example, index) => (
        <tr key={JSON.stringify(example)} class="finding-example" id={index === 0 ? kind : undefined} tabIndex={-1}>
          <Example example={example} />
        </tr>
      ))}
      {count > examples.length && (
        <tr class="finding-example">
          <td colSpan={5} class="soft">
            {text.first(examples.length, count)}
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** Leads to the list of all of them if filters select them, otherwise to the examples. */
function CountLink({ finding: { kind, count }, moment }: FindingRowsProps) {
  const filters = filtersOf(kind, moment);
  if (filters !== undefined) return <Link href={reportHref({ ...wholeReport, filters })}>{formatCount(count)}</Link>;
  return (
    <a
      href={`#${kind}`}
      aria-label={text.toExamples(count, wordsOf(kind).name)}
      onClick={(event) => {
        event.preventDefault(); // the hash would scroll the page to the top
        document.getElementById(kind)?.focus();
      }}
    >
      {formatCount(count)}
    </a>
  );
}

/** What the records of an example have in common, which lists them; then each record. */
function Example({ example }: { readonly example: SubscriptionFinding['examples'][number] }) {
  const { iccid, device_id: device, product_id: product, ids } = example;
  const shared = iccid ?? device ?? product;
  const filters: ReportFilters =
    product === undefined
      ? { status: 'ACTIVE', ...(iccid === undefined ? { 'device-id': device ?? '' } : { iccid }) }
      : { 'product-id': product };
  const records = ids.map((id) => (
    <Link key={id} href={reportHref(wholeReport, id)}>
      <bdi>{id}</bdi>
    </Link>
  ));
  if (shared === undefined) return <td colSpan={5}>{records}</td>;
  return (
    <>
      <td>
        <Link href={reportHref({ ...wholeReport, filters })}>
          <bdi>{shared}</bdi>
        </Link>
      </td>
      <td colSpan={4}>{records}</td>
    </>
  );
}

/** The words of a kind; one of a newer service has its name alone. */
export function wordsOf(kind: string): { readonly name: string; readonly means: string; readonly remedy: string } {
  const known: Readonly<Record<string, readonly [string, string, string]>> = text.kinds;
  const [name, means, remedy] = known[kind] ?? [kind, '', ''];
  return { name, means, remedy };
}

/** The filters that select all records of a kind, if there are such filters. */
function filtersOf(kind: string, moment: string): ReportFilters | undefined {
  if (kind === 'no-status') return { status: 'none' };
  return kind === 'active-past-end' ? { status: 'ACTIVE', 'date-field': 'expiration', before: moment } : undefined;
}
