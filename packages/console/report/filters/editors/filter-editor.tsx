import type { ComponentType } from 'preact';
import { type Filter, type FilterKind, filters } from '../filters.ts';
import { Choices } from './choices.tsx';
import { BoundsEditor, CreatedEditor } from './date-range-editor.tsx';
import type { EditorProps } from './editor-props.ts';
import { EndsEditor } from './ends-editor.tsx';
import { ListedEditor } from './list-editor.tsx';
import { ProductEditor } from './product-editor.tsx';
import { StatusEditor } from './status-editor.tsx';
import { TextEditor } from './text-editor.tsx';

const editors: { readonly [Name in Filter['editor']]: ComponentType<EditorProps> } = {
  status: StatusEditor,
  product: ProductEditor,
  choices: Choices,
  created: CreatedEditor,
  ends: EndsEditor,
  bounds: BoundsEditor,
  text: TextEditor,
  list: ListedEditor,
};

/** The editor of a filter. */
export function FilterEditor({ kind, ...props }: Omit<EditorProps, 'filter'> & { readonly kind: FilterKind }) {
  const Editor = editors[filters[kind].editor];
  return <Editor filter={filters[kind]} {...props} />;
}
