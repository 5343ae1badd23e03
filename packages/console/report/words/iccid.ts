/** Groups the digits of an ICCID by four: `8944 5001 0219 8304 826`. */
export const groupIccid = (iccid: string): string => iccid.match(/.{1,4}/g)?.join(' ') ?? '';

/**
 * The same without the middle: the first eight digits name the issuer, the last four the card.
 *
 * @example shortenIccid('8944500102198302838') // '8944 5001 … 2838'
 */
export function shortenIccid(iccid: string): string {
  return iccid.length <= 12 ? groupIccid(iccid) : `${groupIccid(iccid.slice(0, 8))} … ${iccid.slice(-4)}`;
}
