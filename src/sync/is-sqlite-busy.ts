/** Whether another connection holds a lock: SQLITE_BUSY is the low byte of the extended codes. */
export const isSqliteBusy = (error: unknown): boolean => ((error as { errcode?: number }).errcode ?? 0) % 256 === 5;
