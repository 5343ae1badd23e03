import { createRequire } from 'node:module';
import { checkersFolder, hasCheckers } from '../../tools/has-checkers.ts';

// Large packages that only prove that others can use what we write are installed with the checkers.

const load = createRequire(checkersFolder);

/** Reads a Parquet file with the Arrow of Rust and writes it again; absent without the checkers. */
export const rewriteParquet = hasCheckers('Parquet files are not read by Arrow') ? loadArrow() : undefined;

function loadArrow(): (file: Uint8Array) => Uint8Array {
  const { readParquet, writeParquet } = load('parquet-wasm') as {
    readonly readParquet: (file: Uint8Array) => unknown;
    readonly writeParquet: (table: unknown) => Uint8Array;
  };
  return (file) => writeParquet(readParquet(file));
}

/** The former generation of the MCP client, as far as tests use it; absent without the checkers. */
export const formerSdk = hasCheckers('MCP clients of the former SDK are not tested') ? loadFormerSdk() : undefined;

interface FormerClient {
  connect(transport: object): Promise<void>;
  listTools(): Promise<unknown>;
  callTool(call: { readonly name: string; readonly arguments: object }): Promise<unknown>;
  close(): Promise<void>;
}

function loadFormerSdk() {
  const { Client } = load('mcp-sdk-1/client/index.js') as {
    readonly Client: new (info: { readonly name: string; readonly version: string }) => FormerClient;
  };
  const { StdioClientTransport } = load('mcp-sdk-1/client/stdio.js') as {
    readonly StdioClientTransport: new (server: object) => object;
  };
  return { Client, StdioClientTransport };
}

/** Runs a statement of DuckDB, and returns its rows as JSON; absent without the checkers. */
export const queryDuckDb = hasCheckers('Files are not read by DuckDB') ? loadDuckDb() : undefined;

function loadDuckDb(): (...statements: readonly string[]) => Promise<readonly Record<string, unknown>[]> {
  interface Connection {
    runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): readonly Record<string, unknown>[] }>;
    closeSync(): void;
  }
  return async (...statements) => {
    const { DuckDBInstance } = load('@duckdb/node-api') as {
      readonly DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection>; closeSync(): void }> };
    };
    const database = await DuckDBInstance.create(':memory:');
    const connection = await database.connect();
    try {
      let rows: readonly Record<string, unknown>[] = [];
      for (const statement of statements) rows = (await connection.runAndReadAll(statement)).getRowObjectsJson();
      return rows;
    } finally {
      connection.closeSync();
      database.closeSync();
    }
  };
}
