/** The part of s3rver that the tests use; it has no types of its own. */
declare module 's3rver' {
  import type { AddressInfo } from 'node:net';

  /** A request, as Koa has it. */
  export interface Context {
    readonly method: string;
    readonly path: string;
    get(header: string): string;
    readonly query: Readonly<Record<string, string | undefined>>;
    status: number;
    type: string;
    body: string;
  }

  // biome-ignore lint/style/noDefaultExport: it is the package's only export
  export default class S3rver {
    constructor(options: {
      readonly address: string;
      readonly port: number;
      readonly silent: boolean;
      readonly directory: string;
      readonly configureBuckets: readonly { readonly name: string; readonly configs: readonly string[] }[];
    });
    readonly middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[];
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
