import { describeImport } from '../../operator/describe-import.ts';
import { listImports, readImportErrors, showImport } from '../../operator/imports.ts';
import type { AddRoute } from './operator-routes.ts';
import { readPage } from './page.ts';

/** Adds `listImports`, `getImport` and `getImportErrors`. */
export function addImportRoutes(add: AddRoute): void {
  add('listImports', ({ context, query: { tenant, result, ...page } }) =>
    readPage(page, {
      keyParts: 1,
      read: ([before], limit) => listImports(context, { tenant, result, before: before || undefined }, limit),
      keyOf: ({ id }) => [id],
      show: describeImport,
    }),
  );
  add('getImport', async ({ context, params: { import_id: id = '' } }) =>
    describeImport(await showImport(context, id)),
  );
  add('getImportErrors', ({ context, params: { import_id: id = '' } }) => readImportErrors(context, id));
}
