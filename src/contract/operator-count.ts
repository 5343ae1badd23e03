import { Type } from './type.ts';

/** A number of things, from 0. */
export const wholeNumber = (description: string, example: number) =>
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    format: 'int64',
    description,
    examples: [example],
  });
