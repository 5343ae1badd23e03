import { findZone, type Zone } from '../../contract/zone.ts';
import { UsageError } from '../../terminal/error.ts';

/**
 * The zone of dates with `--dates local`; `undefined` for UTC. Throws `UsageError` without a zone,
 * or if the format is none of those that have local dates.
 */
export function zoneOfDates(
  { dates, zone }: Readonly<Record<string, string | undefined>>,
  format: string,
  formats: readonly string[],
): Zone | undefined {
  if (dates !== 'local') return undefined;
  const rules = [
    ...(zone === undefined ? ['it must be used with --zone, such as --zone Europe/Berlin'] : []),
    ...(formats.includes(format)
      ? []
      : [`it must be used with -o ${formats.join(' or ')}, as others have dates in UTC: current value is ${format}`]),
  ];
  if (rules.length > 0) throw new UsageError(rules.map((rule) => `Cannot use --dates local: ${rule}`).join('\n'));
  return findZone(String(zone)); // the service rejects an unknown one
}
