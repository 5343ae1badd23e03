/** When an import started: its id is a UUID of version 7, which begins with that time. */
export const startedAt = (importId: string): string =>
  new Date(Number.parseInt(importId.replace('-', '').slice(0, 12), 16)).toISOString();
