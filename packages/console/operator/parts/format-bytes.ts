const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** What is written as 1000.0 has the next unit. */
const shownMax = 999.95;

/** A size with a decimal unit: "1.4 MB". */
export function formatBytes(bytes: number): string {
  let power = bytes < 1_000 ? 0 : 1;
  while (power > 0 && power < units.length - 1 && bytes / 1_000 ** power >= shownMax) power += 1;
  const digits = power === 0 ? 0 : 1;
  return `${(bytes / 1_000 ** power).toFixed(digits)}\u00a0${units[power]}`;
}
