import { expect, test } from 'vitest';
import { fitText } from './fit-text.ts';

const measure = (text: string): number => [...text].length;

test('a text that fits is not changed', () => {
  expect(fitText('Europe', 6, measure)).toBe('Europe');
});

test('a longer one is cut to the width, with an ellipsis', () => {
  expect(fitText('Europe 5 GB', 9, measure)).toBe('Europe 5…');
  expect(fitText('Europe 5 GB', 8, measure)).toBe('Europe…');
  expect(fitText('Europe', 0, measure)).toBe('…');
});

test('a character of several code points is never split', () => {
  const family = '👩‍👩‍👧‍👦';
  expect(fitText(`${family}${family}`, 8, measure)).toBe(`${family}…`);
  expect(fitText(`${family}${family}`, 7, measure)).toBe('…');
});
