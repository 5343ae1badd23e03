import { expect, test } from 'vitest';
import { plants } from '../simulation/plants.ts';
import { mutants } from './mutants.ts';
import { findMutatedFile, findTestFile, readSources, readTestFiles } from './source-tree.ts';

const sources = readSources('.');
const testFiles = readTestFiles('.');

test.each(mutants)('the mutant $id has its code once and its test in one file', (mutant) => {
  expect(mutant.replace).not.toBe(mutant.search);
  findMutatedFile(sources, mutant);
  findTestFile(testFiles, mutant);
});

test.each(plants)('the mistake $id, which the simulation must find, has its code once in packages/', (plant) => {
  expect(plant.replace).not.toBe(plant.search);
  findMutatedFile(sources, plant);
});

test('mutants have ids of their own, and some are killed on each engine', () => {
  expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
  for (const engine of ['sqlite', 'postgres'])
    expect(mutants.filter(({ on }) => on?.includes(engine)).length).toBeGreaterThanOrEqual(6);
});
