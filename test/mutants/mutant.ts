/**
 * A mistake that somebody could make in this code, and the test that must notice it.
 * `npm run mutants` plants them one at a time in a copy of the tree.
 *
 * When `mutants.test.ts` fails because you moved, rewrote or reworded something: find the line that
 * does the same now, put a part of it that occurs once below `packages/` into `search`,
 * make the same mistake in `replace`, copy the title as it is now into `test`, and run
 * `npm run mutants -- --only <id>`.
 */
export interface Mutant {
  readonly id: string;
  /** What the service does wrong. */
  readonly breaks: string;
  /** Code that occurs in one file below `packages/`, once. */
  readonly search: string;
  readonly replace: string;
  /** Base name of the test file. */
  readonly file: string;
  /** The title of the test as its file has it. */
  readonly test: string;
  /** Words in the titles of the suites around the test, such as the engine. */
  readonly on?: readonly string[];
}
