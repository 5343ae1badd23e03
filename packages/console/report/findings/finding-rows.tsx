import type { Subscription, SubscriptionFinding } from '../../../client/index.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { Link } from '../../ui/location.tsx';
import { StatusLabel } from '../../ui/status-label.tsx';
import { type ReportFilters, wholeReport } from '../link/report-state.ts';
import { reportHref } from '../store/report-store.ts';
import { fieldHeading } from '../words/field-heading.ts';
import { groupIccid } from '../words/iccid.ts';
import { nameOf } from '../words/product-names.ts';
import { findingsStrings } from './findings-strings.ts';

const text = findingsStrings;

/** The dates of a row, each of which a finding may be about. */
export const dates = ['createdDate', 'activationDate', 'expirationDate'] as const;

export interface FindingRowsProps {
  readonly finding: SubscriptionFinding;
  /** The records of the examples, by id. */
  readonly records: ReadonlyMap<string, Subscription>;
  /** Ends before it have passed. */
  readonly moment: string;
}

/** A finding in words, and the records of its examples in a row each. */
export function FindingRows({ finding, records, moment }: FindingRowsProps) {
  const { kind, count, since, examples } = finding;
  const { name, means, remedy } = wordsOf(kind);
  const filters = filtersOf(kind, moment);
  return (
    <tbody aria-label={name}>
      <tr>
        <th scope="rowgroup" colSpan={6}>
          <strong>{name}</strong>{' '}
          {filters === undefined ? (
            formatCount(count)
          ) : (
            <Link href={reportHref({ ...wholeReport, filters })}>{formatCount(count)}</Link>
          )}
          <p class="soft">
            {means} {remedy} {since !== undefined && text.since(formatMinute(since))}
            {count > examples.length && ` ${text.first(examples.length, count)}`}
          </p>
        </th>
      </tr>
      {examples.map((example) => (
        <Example key={JSON.stringify(example)} example={example} records={records} />
      ))}
    </tbody>
  );
}

interface ExampleProps extends Pick<FindingRowsProps, 'records'> {
  readonly example: SubscriptionFinding['examples'][number];
}

/** What the records of an example have in common, which lists them; then each record. */
function Example({ example, records }: ExampleProps) {
  const { iccid, device_id: device, product_id: product, ids } = example;
  const shared = iccid ?? device ?? product;
  const filters: ReportFilters =
    product === undefined
      ? { status: 'ACTIVE', ...(iccid === undefined ? { 'device-id': device ?? '' } : { iccid }) }
      : { 'product-id': product };
  return (
    <>
      {shared !== undefined && (
        <tr>
          <th scope="row" colSpan={6} class="finding-shared">
            <Link href={reportHref({ ...wholeReport, filters })}>
              <bdi>{shared}</bdi>
            </Link>
          </th>
        </tr>
      )}
      {ids.map((id) => (
        <Row key={id} id={id} record={records.get(id)} />
      ))}
    </>
  );
}

/** A record; its id alone if it has been removed since. */
const Row = ({ id, record }: { readonly id: string; readonly record: Subscription | undefined }) => (
  <tr>
    <td>
      <Link href={reportHref(wholeReport, id)}>
        <bdi>{record === undefined ? id : nameOf(record.product)}</bdi>
      </Link>
    </td>
    {record !== undefined && (
      <>
        <td>{groupIccid(record.iccid)}</td>
        <td>
          <StatusLabel status={record.status ?? null} />
        </td>
        {dates.map((name) => (
          <td key={name} data-label={fieldHeading(name)}>
            <DateTime value={record[name]} focusable={false} />
          </td>
        ))}
      </>
    )}
  </tr>
);

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
