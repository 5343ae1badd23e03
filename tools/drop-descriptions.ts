import type { Plugin } from 'rolldown';

/**
 * Drops the descriptions of the contract's schemas, which the API reference reads from the OpenAPI
 * document: the pages of the consoles would load 1.5 kB of sentences that they never show.
 */
export const dropDescriptions: Plugin = {
  name: 'drop-descriptions',
  transform: {
    filter: { id: /packages[\\/]contract[\\/]/, code: 'description' },
    handler(code) {
      let kept = '';
      let from = 0;
      for (const { start, end } of descriptionsIn(this.parse(code, { lang: 'ts' }))) {
        kept += code.slice(from, start);
        from = code[end] === ',' ? end + 1 : end;
      }
      return kept + code.slice(from);
    },
  },
};

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The members `description` with a text, in the order of the source. */
function* descriptionsIn(node: unknown): Generator<Range> {
  if (typeof node !== 'object' || node === null) return;
  const { type, key, value } = node as { type?: string; key?: { name?: string }; value?: { type?: string } };
  if (type === 'Property' && key?.name === 'description' && isText(value)) yield node as Range;
  else for (const child of Object.values(node)) yield* descriptionsIn(child);
}

const isText = (value: { readonly type?: string } | undefined): boolean =>
  value?.type === 'Literal' || value?.type === 'TemplateLiteral';
