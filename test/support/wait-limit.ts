/** CI runs other checks beside the tests, and `npm run drill` runs on any machine. */
const isUnhurried = process.env.CI !== undefined || process.env.npm_lifecycle_event === 'drill';

/**
 * Longest wait of a test for something that does not come, in milliseconds. A machine that is busy
 * may be four times slower.
 */
export const waitMsMax = isUnhurried ? 80_000 : 20_000;
