/**
 * Durations: `12h`, `7d`, `2w`, or ISO 8601 (`P7D`, `P2W`, `PT12H`, `P1DT12H30M`). Months and years
 * are rejected because their length varies, and a bare `m` because it could mean minutes or months.
 */
export const durationPattern =
  '^(?:([0-9]{1,6})([hdw])|P(?=.)(?:([0-9]{1,6})W|(?:([0-9]{1,6})D)?(?:T(?=.)(?:([0-9]{1,6})H)?(?:([0-9]{1,8})M)?(?:([0-9]{1,9})S)?)?))$';

const form = new RegExp(durationPattern);
const hour = 3_600;
const day = 86_400;
const unitSeconds: Readonly<Record<string, number>> = { h: hour, d: day, w: 7 * day };

/** The longest accepted duration: ten years, in days. */
export const durationDaysMax = 3_660;

/**
 * Parses a duration into seconds. Returns `undefined` for an invalid or empty (`0d`) duration and
 * for more than `durationDaysMax` days.
 *
 * @example
 * parseDuration('7d')   // 604800
 * parseDuration('P7D')  // 604800
 * parseDuration('P1M')  // undefined
 */
export function parseDuration(text: string): number | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const short = part(1) * (unitSeconds[match[2] ?? ''] ?? 0);
  const long = part(3) * 7 * day + part(4) * day + part(5) * hour + part(6) * 60 + part(7);
  const seconds = short + long;
  return seconds > 0 && seconds <= durationDaysMax * day ? seconds : undefined;
}

/**
 * Formats seconds as an ISO 8601 duration with days as the largest unit.
 *
 * @example formatDuration(129_600) // 'P1DT12H'
 */
export function formatDuration(seconds: number): string {
  const days = Math.floor(seconds / day);
  const rest = seconds % day;
  const time = [
    [Math.floor(rest / hour), 'H'],
    [Math.floor((rest % hour) / 60), 'M'],
    [rest % 60, 'S'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join('');
  return `P${days > 0 ? `${days}D` : ''}${time === '' ? '' : `T${time}`}`;
}
