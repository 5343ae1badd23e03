/** Limits that no operator could choose better, in the units of their names. */
export const fixedLimits = {
  /**
   * Longest pause of the client of an export before the next few megabytes: longer than a proxy or
   * a program that writes to a slow disk needs, and the database keeps replaced rows meanwhile.
   */
  exportStallSeconds: 120,
  /** Least average rate of an export after so many seconds of pauses: 1 GiB in 18 hours. */
  exportRateMinKib: 16,
  /** An export of a million records takes seconds, and replaced rows are kept until its end. */
  exportSecondsMax: 3_600,
  /** Beyond any client that reuses connections; a flood needs more to delay others. */
  connectionsPerAddressMax: 2_000,
  /** One valid refresh token for each process of a client, far more than clients have. */
  refreshFamiliesMax: 100,
  /**
   * Failed attempts per minute of a client and network: more than a person makes, and an imported
   * secret of 16 characters that are not common outlasts them.
   */
  tokenFailuresPerMinute: 20,
  /** A process serves them in a fraction of a second; more would only wait longer. */
  requestsWaitingMax: 200,
} as const satisfies Record<string, number>;

export type FixedLimits = Readonly<Record<keyof typeof fixedLimits, number>>;
