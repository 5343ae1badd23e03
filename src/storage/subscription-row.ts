/** A subscription as it is kept: the text that goes on the wire, beside the columns that filters and orders compare. */
export interface SubscriptionRow {
  readonly id: string;
  /** Dates as whole UTC epoch seconds. */
  readonly createdDate: number;
  readonly activationDate: number;
  readonly expirationDate: number;
  readonly status: string | null;
  readonly productId: string;
  readonly planId: string;
  readonly iccid: string;
  readonly deviceId: string;
  /** The word on the wire: `true` or `false`. */
  readonly autoRenew: string;
  /** Normalised e-mail address or identifier of the subscriber: a filter only, never part of `record`. */
  readonly email: string | null;
  /** The finished JSON text of the record. */
  readonly record: string;
}
