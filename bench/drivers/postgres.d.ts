// The package is installed only to measure; these types cover the part that the benchmark uses.
declare module 'postgres' {
  /** Rows as arrays of bytes. */
  interface RawRows extends Array<readonly (Buffer | null)[]> {
    readonly columns: readonly { readonly name: string; readonly type: number }[];
  }

  interface RawQuery extends Promise<RawRows> {
    cursor(rows: number): AsyncIterable<RawRows>;
  }

  interface Sql {
    unsafe(
      text: string,
      values: readonly unknown[],
      options?: { prepare: boolean },
    ): Promise<unknown> & { raw(): RawQuery };
    begin<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
    end(): Promise<void>;
  }

  // biome-ignore lint/style/noDefaultExport: it is what the package exports
  export default function postgres(url: string, options: object): Sql;
}
