import type { Page } from 'playwright-core';

/** A page of a console in one state. */
export interface Picture {
  /** Name of its files. */
  readonly name: string;
  readonly console: 'report' | 'operator';
  readonly path: string;
  /** Whether it is taken before signing in. */
  readonly isSignedOut?: boolean;
  /** Brings the page into its state. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}
