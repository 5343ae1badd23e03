import type { Static } from 'typebox';
import { Product } from './product.ts';
import { closed, openCharacter, openValue, plain, utcTime } from './schema.ts';
import { Type } from './type.ts';

/** The known statuses, in life-cycle order. Clients must expect others: the set may grow. */
export const knownStatuses = ['PENDING', 'ACTIVE', 'DEPLETED', 'EXPIRED'] as const;

/**
 * Identifier of a subscription: URL-safe base64-like, with optional `=` padding (`spec.md`
 * "Subscription record").
 */
export const SubscriptionId = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,255}={0,2}$',
  minLength: 1,
  maxLength: 257,
  description: 'Opaque subscription identifier, a URL-safe base64-like string',
  'x-rule': '1 to 255 of the characters A-Z a-z 0-9 _ - with at most two = at the end',
  examples: ['c3Vic2NyaXB0aW9uLTAwMDE='],
});

/**
 * State of a subscription: an open set, kept as it was loaded (`spec.md` "States and transitions").
 */
export const Status = Type.String({
  ...openValue,
  description: `Status of the subscription: an open set. Known values: ${knownStatuses.join(', ')}. Clients must accept others`,
  examples: ['ACTIVE'],
});

/** The value of the filter `status` that selects records without a status. */
export const noStatus = 'none';

/** A status that the filter writes with one backslash more: `none` itself, as `\none`. */
const escaped = /^\\*none$/;

/**
 * Writes a status, or `null` for none, as a value of the filter `status`. `readStatusFilter` is the
 * exact inverse.
 *
 * @example statusFilterOf('none') // '\\none'
 */
export function statusFilterOf(status: string | null): string {
  if (status === null) return noStatus;
  return escaped.test(status) ? `\\${status}` : status;
}

/**
 * Reads one value of the filter `status`: a status, or `null` for records without one.
 *
 * @example readStatusFilter('none') // null
 */
export function readStatusFilter(value: string): string | null {
  if (value === noStatus) return null;
  return escaped.test(value) ? value.slice(1) : value;
}

/** The pattern of one value of the filter. */
export const statusFilterPattern = `(?:\\\\{1,61}${noStatus}|${openCharacter}{1,64})`;

/** One value of the filter `status`. */
export const StatusFilter = Type.String({
  ...Status,
  pattern: `^${statusFilterPattern}$`,
  maxLength: 65,
  description: `A status, compared exactly, or ${noStatus} for records without a status; \\${noStatus} is the status with the text ${noStatus}. Known statuses: ${knownStatuses.join(', ')}`,
  'x-rule': `a status of 1 to 64 printable characters without a comma, or ${noStatus} for no status`,
});

/**
 * SIM identifier (ITU-T E.118). Real data contains 16-digit ones, so 15 to 22 digits are allowed.
 */
export const Iccid = Type.String({
  pattern: '^[0-9]{15,22}$',
  minLength: 15,
  maxLength: 22,
  description: 'SIM identifier',
  'x-rule': '15 to 22 digits',
  examples: ['8944500102198304826'],
});

const timestamp = (description: string) =>
  Type.String({
    ...utcTime,
    description: `${description}: ISO 8601 date-time in UTC, yyyy-MM-ddTHH:mm:ssZ`,
    'x-rule': 'an ISO 8601 date-time',
    examples: ['2024-05-01T00:00:00Z'],
  });

/** `auto_renew` is a string, not a JSON boolean (`spec.md` "Subscription record"). */
export const AutoRenew = Type.String({
  enum: ['true', 'false'],
  maxLength: 5,
  description: 'Whether the subscription renews automatically: the string "true" or "false", not a JSON boolean',
  'x-rule': '"true" or "false"',
  examples: ['true'],
});

/**
 * A subscription record as the report returns it (`spec.md` "Subscription record"). `status`
 * and the members of `product` but its `id` are optional.
 */
export const Subscription = closed('A data subscription (eSIM/IoT connectivity plan)', {
  id: SubscriptionId,
  status: Type.Optional(Status),
  activationDate: timestamp('When the subscription was activated'),
  expirationDate: timestamp('When the subscription expires'),
  createdDate: timestamp('When the subscription was created'),
  product: Product,
  iccid: Iccid,
  device_id: plain(128, 'Identifier of the device', 'device-000417'),
  auto_renew: AutoRenew,
});
export type Subscription = Static<typeof Subscription>;

/**
 * A subscriber's email address or identifier: a filter only, never part of a response and never
 * logged.
 */
export const Email = Type.String({
  pattern: '^[^\\s\\u0000-\\u001f\\u007f]{1,254}$',
  minLength: 1,
  maxLength: 254,
  description: "The subscriber's email address or identifier, case-insensitive",
  'x-rule': 'an email address or identifier of 1 to 254 characters without whitespace',
  examples: ['ada@example.com'],
});

/** Normalizes an address for storage and comparison: trimmed, NFC, lower case. */
export function normaliseEmail(text: string): string {
  return text.trim().normalize('NFC').toLowerCase();
}
