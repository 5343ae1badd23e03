/** The test of random questions. */
export const anyQuestion = {
  file: 'any-question.test.ts',
  test: 'has exact totals and records, and visits few rows beside those of its narrowest condition',
  on: ['sqlite'],
};

/** The test of the counts with each combination of filters that they know. */
export const countsEqual = {
  file: 'counts.test.ts',
  test: 'have the total and a deep page of each filter that they know, in the order of each date',
  on: ['sqlite'],
} as const;
