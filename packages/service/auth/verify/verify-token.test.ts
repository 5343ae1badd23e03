import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AccessError } from '../error.ts';
import { findBearer, requireTokenSyntax } from './verify-token.ts';

/** The token of a header, or the code of the error. */
function outcomeOf(header: string | undefined): string {
  try {
    return requireTokenSyntax(findBearer(header));
  } catch (error) {
    if (error instanceof AccessError) return error.code;
    throw error;
  }
}

describe('the token of an Authorization header', () => {
  test.each([
    ['Bearer a.b-c_d~e+f/g==', 'a.b-c_d~e+f/g=='],
    ['bEARER   abc', 'abc'],
    [undefined, 'MISSING_TOKEN'],
    ['Basic YTpi', 'MISSING_TOKEN'],
    ['BearerToken abc', 'MISSING_TOKEN'],
    ['Bearer\tabc', 'MISSING_TOKEN'],
    ['Digest Bearer abc', 'MISSING_TOKEN'],
    ['Bearer', 'MALFORMED'],
    ['Bearer  ', 'MALFORMED'],
    ['Bearer a b', 'MALFORMED'],
    ['Bearer a=b', 'MALFORMED'],
    ['Bearer a,Bearer b', 'MALFORMED'],
  ])('%j: %s', (header, outcome) => {
    expect(outcomeOf(header)).toBe(outcome);
  });

  test('is found only behind its scheme and spaces (property)', () => {
    const parts = fc.constantFrom('Bearer', 'bearer', 'Basic', ' ', '  ', '\t', 'abc', '=', ',', '');
    fc.assert(
      fc.property(
        fc.array(parts, { maxLength: 5 }).map((each) => each.join('')),
        (header) => {
          const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1];
          if (token === undefined) expect(['MISSING_TOKEN', 'MALFORMED']).toContain(outcomeOf(header));
          else expect(outcomeOf(header)).toBe(token);
        },
      ),
    );
  });
});
