import { Type } from './type.ts';

const options = {
  format: 'date-time',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$',
  maxLength: 20,
  examples: ['2026-05-01T08:00:00Z'],
};

/** A time in UTC, `yyyy-MM-ddTHH:mm:ssZ`. */
export const time = (description: string) => Type.String({ ...options, description });

/** The same, or `null`. */
export const nullableTime = (description: string) =>
  Type.Union([Type.String(options), Type.Null()], { description, examples: options.examples });
