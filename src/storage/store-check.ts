/** One thing about a store that was looked at. */
export interface StoreCheck {
  /** What was looked at, in a word or two. */
  readonly check: string;
  readonly ok: boolean;
  /** What was found, and what to do when it is not as it must be. */
  readonly message: string;
}

/** Looks whether something resolves, and gives its error's sentence when it does not. */
export async function checkThat(check: string, fine: string, work: () => Promise<void>): Promise<StoreCheck> {
  try {
    await work();
    return { check, ok: true, message: fine };
  } catch (error) {
    return { check, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
