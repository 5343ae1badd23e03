/** The current time in UTC epoch seconds. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
