import type { Subscription } from '../../contract/subscription.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';

/** Most records that a dry run shows. */
const shownMax = 3;

/** Fewest ICCIDs, and smallest part of them, about which an import warns. */
const warnedMin = 5;
const warnedPart = 0.05;

/** ICCIDs of one length. */
interface LengthCounts {
  rounded: number;
  fits: number;
  misfits: number;
}

/** What the valid rows of a source have in common: its first records, and doubtful ICCIDs. */
export class RowSample {
  readonly #first: string[] = [];
  readonly #byLength = new Map<number, LengthCounts>();
  #rows = 0;

  add({ record, iccid }: SubscriptionRow): void {
    this.#rows += 1;
    if (this.#first.length < shownMax) this.#first.push(record);
    const counts = this.#byLength.get(iccid.length) ?? { rounded: 0, fits: 0, misfits: 0 };
    this.#byLength.set(iccid.length, counts);
    if (isRounded(iccid)) counts.rounded += 1;
    else if (fitsCheckDigit(iccid)) counts.fits += 1;
    else counts.misfits += 1;
  }

  /** The first records as they are stored. */
  get records(): readonly Subscription[] {
    return this.#first.map((record) => JSON.parse(record));
  }

  /** A sentence for each doubt about the ICCIDs. */
  get warnings(): readonly string[] {
    const warnings: string[] = [];
    const isMany = (count: number, of: number): boolean => count >= warnedMin && count >= of * warnedPart;
    const lengths = [...this.#byLength].toSorted(([a], [b]) => a - b);
    const rounded = lengths.reduce((sum, [, counts]) => sum + counts.rounded, 0);
    if (isMany(rounded, this.#rows))
      warnings.push(
        `${rounded} of ${this.#rows} ICCIDs end in zeros from the 16th digit, as a spreadsheet rounds them: export them as text`,
      );
    // where most do not fit, the source has no check digits
    for (const [length, { fits, misfits }] of lengths)
      if (fits > misfits && isMany(misfits, fits + misfits))
        warnings.push(
          `${misfits} of ${fits + misfits} ICCIDs with ${length} digits do not fit their check digit: look for typing errors`,
        );
    const rare = lengths.filter(([, counts]) => countOf(counts) <= this.#rows * warnedPart);
    const rareRows = rare.reduce((sum, [, counts]) => sum + countOf(counts), 0);
    if (rareRows >= warnedMin)
      warnings.push(
        `${rareRows} of ${this.#rows} ICCIDs have ${rare.map(([length]) => length).join(' or ')} digits, a length that at most 1 of 20 have: look for missing digits`,
      );
    return warnings;
  }
}

const countOf = ({ rounded, fits, misfits }: LengthCounts): number => rounded + fits + misfits;

/** Whether an ICCID is as a spreadsheet leaves a number of more than 15 digits. */
const isRounded = (iccid: string): boolean => iccid.length > 18 && iccid.endsWith('0'.repeat(iccid.length - 15));

/** Whether the last digit is the check digit of those before it (ITU-T E.118: Luhn). */
function fitsCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at -= 1, isDoubled = !isDoubled) {
    const digit = digits.charCodeAt(at) - 48;
    sum += isDoubled ? 2 * digit - (digit > 4 ? 9 : 0) : digit;
  }
  return sum % 10 === 0;
}
