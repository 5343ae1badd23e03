import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { commandEnvironment, mcpProgram } from '../../../test/support/run-command.ts';
import type { TestClient, TestService } from '../../../test/support/service.ts';

/** The result of a tool. */
export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly isError?: boolean;
}

/** The answer of a result, which is its only text. */
export function answerIn({ content, isError, ...rest }: ToolResult): Record<string, unknown> {
  expect([isError ?? false, content.length, 'structuredContent' in rest], content[0]?.text).toEqual([false, 1, false]);
  return JSON.parse(content[0]?.text ?? '');
}

/** A program that uses the tools. */
export interface Assistant {
  listTools(): Promise<{ tools: { name: string; annotations?: unknown }[] }>;
  call(name: string, given?: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
}

/** How a configuration starts the program, with variables. */
export const commandOf = ({ url }: Pick<TestService, 'url'>, { client_id, client_secret }: TestClient) => ({
  command: process.execPath,
  args: [mcpProgram],
  env: {
    ...commandEnvironment,
    SUBREPORT_URL: url,
    SUBREPORT_CLIENT_ID: client_id,
    SUBREPORT_CLIENT_SECRET: client_secret,
  },
});

/** A client of 2024, which knows no structured content: lines of JSON-RPC. */
export async function connectOldest(service: Pick<TestService, 'url'>, credentials: TestClient): Promise<Assistant> {
  const { command, args, env } = commandOf(service, credentials);
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  let id = 0;
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (method: string, params: object) => {
    send({ id: ++id, method, params });
    return JSON.parse((await lines.next()).value ?? '{}').result;
  };
  const version = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  expect(await ask('initialize', version)).toMatchObject({ protocolVersion: '2024-11-05' });
  send({ method: 'notifications/initialized' });
  return {
    listTools: () => ask('tools/list', {}),
    call: (name, given = {}) => ask('tools/call', { name, arguments: given }),
    async close() {
      child.stdin.end();
      expect((await once(child, 'close'))[0]).toBe(0);
    },
  };
}

export type Table = Record<string, unknown>;

const objectsIn = ({ columns, rows }: Table): Table[] =>
  (rows as unknown[][]).map((cells) =>
    Object.fromEntries(
      (columns as string[]).flatMap((name, at): [string, unknown][] => (cells[at] === null ? [] : [[name, cells[at]]])),
    ),
  );

/** The records of a table, with their products. */
export function recordsIn(table: Table): Table[] {
  const products = table.products === undefined ? [] : objectsIn(table.products as Table);
  return objectsIn(table).map(({ product: id, ...record }) => {
    const product = typeof id === 'string' ? products.find((each) => each.id === id) : id;
    return { ...record, ...(product !== undefined && { product }) };
  });
}
