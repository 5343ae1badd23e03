/**
 * Longest wait of a test for something that does not come, in milliseconds. CI runs other checks
 * beside the tests, on a machine that may be four times slower.
 */
export const waitMsMax = process.env.CI === undefined ? 20_000 : 80_000;
