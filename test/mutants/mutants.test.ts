import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { findMutatedFile, findTestFile, readSources, readTestFiles } from './source-tree.ts';

const sources = readSources('.');
const testFiles = readTestFiles('.');

test.each(mutants)('the mutant $id has its code once and its test in one file', (mutant) => {
  expect(mutant.replace).not.toBe(mutant.search);
  findMutatedFile(sources, mutant);
  findTestFile(testFiles, mutant);
});

test('mutants have ids of their own, and some are killed on each engine', () => {
  expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
  for (const engine of ['sqlite', 'postgres'])
    expect(mutants.filter(({ on }) => on?.includes(engine)).length).toBeGreaterThanOrEqual(6);
});
