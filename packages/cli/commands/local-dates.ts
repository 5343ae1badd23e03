import { takeZone, type Zone } from '../../contract/zone.ts';
import { UsageError } from '../../terminal/error.ts';

type Values = Readonly<Record<string, string | undefined>>;

/** Throws `UsageError` for `--dates local` without a zone, or if no format of `formats` is used. */
export function requireLocalDates({ dates, zone }: Values, format: string, formats: readonly string[]): void {
  if (dates !== 'local') return;
  const rules = [
    ...(zone === undefined ? ['it must be used with --zone, such as --zone Europe/Berlin'] : []),
    ...(formats.includes(format)
      ? []
      : [`it must be used with -o ${formats.join(' or ')}, as others have dates in UTC: current value is ${format}`]),
  ];
  if (rules.length > 0) throw new UsageError(rules.map((rule) => `Cannot use --dates local: ${rule}`).join('\n'));
}

/**
 * The zone of dates that the command writes itself; `undefined` for UTC. Throws `UsageError` for a
 * zone that this machine does not know, even if the service does.
 */
export function zoneOfDates({ dates, zone }: Values): Zone | undefined {
  if (dates !== 'local' || zone === undefined) return undefined;
  const faults: Parameters<typeof takeZone>[1] = [];
  const found = takeZone([{ name: 'zone', value: zone }], faults);
  const [fault] = faults;
  if (fault === undefined) return found;
  throw new UsageError(`Cannot use --zone: it must be ${fault.rule}: current value is '${fault.value}'`);
}
