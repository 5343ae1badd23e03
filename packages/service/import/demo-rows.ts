import { type SyntheticRow, syntheticRows } from './synthetic-rows.ts';

type DemoRow = Omit<SyntheticRow, 'email'> & { readonly email?: string | undefined };

const daySeconds = 86_400;
/** Seconds from one change of the running demo to the next. */
export const changeSeconds = 30;
/** For how many changes a subscription keeps what one of them gave it. */
const lasting = 40;

/**
 * The 2,000 subscriptions of the demo as they are at a time, in a fixed order. Up to `until`, they
 * are those of `syntheticRows` that were created by then, with all kinds of findings. From then on,
 * one of them changes in each period of `changeSeconds`, without an effect on the numbers that the
 * README prints; what begins and ends does so once a day.
 */
export function demoRows(until: number, at: number): readonly DemoRow[] {
  const day = at - (at > until ? (at - until) % daySeconds : 0);
  const rows = Array.from(syntheticRows({ count: 2_000, seed: 2026, until, at: day }), (row, index): DemoRow => {
    const flaw = flaws.find(([first, every]) => index % every === first)?.[2];
    return { ...row, ...flaw?.(row) };
  });
  const newest = Math.floor((at - until) / changeSeconds);
  for (let n = Math.max(1, newest - lasting + 1); n <= newest; n += 1) {
    // of the newer half: the older subscriptions stay as the README shows them
    const index = 1_000 + ((n * 397) % 1_000);
    const [other, row] = rows.slice(index - 1, index + 1);
    const toggled = row?.auto_renew === 'true' ? 'false' : 'true';
    if (other && row) rows[index] = n % 2 === 0 ? { ...row, product: other.product } : { ...row, auto_renew: toggled };
  }
  return rows;
}

/** The first subscription with a flaw, how far the others are apart, and the flaw. */
const flaws: readonly (readonly [first: number, every: number, flaw: (row: DemoRow) => Partial<DemoRow>])[] = [
  [5, 200, () => ({ email: undefined })],
  [10, 900, ({ activationDate: date, expirationDate }) => ({ activationDate: expirationDate, expirationDate: date })],
  [15, 150, ({ status }) => (status === 'EXPIRED' ? { status: 'ACTIVE' } : {})],
  [20, 250, ({ product }) => ({ product: { ...product, period: 0 } })],
  [25, 700, ({ product }) => ({ product: { ...product, name: `${product.name} (2024)` } })],
  [30, 250, () => ({ device_id: 'device-000030' })],
  [35, 250, ({ iccid }) => ({ iccid: `${iccid.slice(0, 15)}0000` })],
  [40, 500, ({ iccid }) => ({ iccid: iccid.slice(0, -1) + ((Number(iccid.at(-1)) + 1) % 10) })],
  [45, 300, ({ iccid }) => ({ iccid: iccid.slice(0, 18) })],
];
