/** The right to import into a tenant, which one process at a time has. It ends with its process, however that ends; where its host is lost, the store notices within minutes. */
export interface ImportLock {
  /** Whether it still holds; a connection that carries it may break. */
  readonly isHeld: () => boolean;
  release(): Promise<void>;
}
