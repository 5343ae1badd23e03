import { randomInt } from 'node:crypto';

/** Gives this run and its processes a seed for `draw.ts`, if the environment has none. */
export function setDrawSeed(): void {
  process.env.DRAW ??= String(randomInt(2 ** 28));
}
