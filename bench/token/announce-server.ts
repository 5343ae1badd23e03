/** What a measured server tells its parent once it listens. */
export interface ReadyServer {
  readonly port: number;
  /** Path of its token endpoint. */
  readonly tokenPath: string;
  /** Credentials of clients that may use both grants. */
  readonly clients: readonly { readonly client_id: string; readonly client_secret: string }[];
}

/**
 * Tells the parent process that this server listens, and from then on, whenever asked, the CPU time
 * that it used so far, in microseconds.
 */
export function announceServer(ready: ReadyServer): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.on('disconnect', () => process.exit()); // the parent is gone or has measured enough
  process.send?.(ready);
}
