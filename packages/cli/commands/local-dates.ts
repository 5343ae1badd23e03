import { takeZone, type Zone } from '../../contract/zone.ts';
import { UsageError } from '../../terminal/error.ts';

/**
 * The zone of the dates of a workbook; `undefined` for UTC and for CSV, whose dates the service
 * writes. Throws `UsageError` for `--dates local` without a zone or in another format, and for a
 * zone that this machine does not know, even if the service does.
 */
export function zoneOfDates(
  { dates, zone }: Readonly<Record<string, string | undefined>>,
  format: string,
): Zone | undefined {
  if (dates !== 'local') return undefined;
  const rules = [
    ...(zone === undefined ? ['it must be used with --zone, such as --zone Europe/Berlin'] : []),
    ...(['csv', 'xlsx'].includes(format)
      ? []
      : [`it must be used with -o csv or xlsx, as others have dates in UTC: current value is ${format}`]),
  ];
  if (rules.length > 0) throw new UsageError(rules.map((rule) => `Cannot use --dates local: ${rule}`).join('\n'));
  if (zone === undefined || format !== 'xlsx') return undefined;
  const faults: Parameters<typeof takeZone>[1] = [];
  const found = takeZone([{ name: 'zone', value: zone }], faults);
  const [fault] = faults;
  if (fault === undefined) return found;
  throw new UsageError(`Cannot use --zone: it must be ${fault.rule}: current value is '${fault.value}'`);
}
