import type { Plugin } from 'rolldown';

const workerUrl = /new URL\('(\.\/[\w-]+\.ts)', import\.meta\.url\)/;

/** Bundles the source of `new Worker(new URL('./x.ts', import.meta.url))` as a file of its own. */
export const bundleWorkers: Plugin = {
  name: 'bundle-workers',
  transform: {
    filter: { code: 'new Worker(' },
    async handler(code, importer) {
      const [found, source = ''] = workerUrl.exec(code) ?? [];
      const resolved = found && (await this.resolve(source, importer));
      if (!resolved) return;
      const file = this.emitFile({ type: 'chunk', id: resolved.id });
      return code.replace(found, `import.meta.ROLLUP_FILE_URL_${file}`);
    },
  },
};
