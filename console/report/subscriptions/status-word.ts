/** A status in words: `DEPLETED` is `Depleted`, `ON_HOLD` is `On hold`. */
export function statusWord(status: string): string {
  const words = status.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
