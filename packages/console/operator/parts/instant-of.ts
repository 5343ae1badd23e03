/**
 * The instant of a date or a time in UTC: "2026-05-01", "2026-05-01 08:00". Anything else is
 * returned as it is, so that the service names what is wrong.
 */
export function instantOf(text: string | undefined): string | undefined {
  const [, day, hour = '00:00', second = ':00'] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?Z?)?$/.exec(text ?? '') ?? [];
  return day === undefined ? text : `${day}T${hour}${second}Z`;
}
