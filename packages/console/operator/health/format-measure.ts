/** The units of the charts of the health page. */
export type Unit = 'per-second' | 'milliseconds' | 'percent' | 'connections' | 'mebibytes';

const suffixes: { readonly [Key in Unit]: string } = {
  'per-second': '/s',
  milliseconds: ' ms',
  percent: ' %',
  connections: '',
  mebibytes: ' MiB',
};

/**
 * A value with its unit, and as many decimals as matter: "0.4/s", "12 ms". Only 0 is written as 0.
 */
export function formatMeasure(value: number, unit: Unit): string {
  if (value > 0 && value < 0.005) return `<0.01${suffixes[unit] ?? ''}`;
  const decimals = value === 0 || value >= 10 || unit === 'connections' ? 0 : value >= 1 ? 1 : 2;
  return `${value.toLocaleString('en', { maximumFractionDigits: decimals })}${suffixes[unit] ?? ''}`;
}
