const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** A size with a decimal unit: "1.4 MB". */
export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const digits = power === 0 ? 0 : 1;
  return `${(bytes / 1_000 ** power).toFixed(digits)}\u00a0${units[power]}`;
}
