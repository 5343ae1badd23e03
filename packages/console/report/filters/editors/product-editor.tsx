import { ErrorNote } from '../../../ui/error-note.tsx';
import { formatCount } from '../../../ui/format-count.ts';
import { PickList } from '../../../ui/pick-list.tsx';
import { Loading, Skeleton } from '../../../ui/skeleton.tsx';
import { filterStrings as text } from '../filter-strings.ts';
import type { EditorProps } from './editor-props.ts';
import { TextEditor } from './text-editor.tsx';
import { useValueCounts, type ValueCount } from './value-counts.ts';

/** Rows of the list; typing narrows it. */
const shownMax = 100;

/** The products by name, those with the most records first; by id where there are no counts. */
export function ProductEditor(props: EditorProps) {
  const { state, onApply } = props;
  const counts = useValueCounts('product-id', state);
  if (counts.kind === 'unknown')
    return (
      <>
        {counts.error !== undefined && <ErrorNote error={counts.error} />}
        <TextEditor {...props} filter={{ ...props.filter, label: 'Product id' }} />
      </>
    );
  if (counts.kind === 'counting')
    return (
      <Loading>
        <Skeleton width="240px" height="36px" />
        <Skeleton width="240px" height="160px" />
      </Loading>
    );
  const products = counts.values.toSorted((a, b) => b.count - a.count);
  const find = (typed: string) => products.filter((product) => isMatch(product, typed.trim().toLowerCase()));
  return (
    <PickList
      label={text.product}
      placeholder="Type to find a product"
      none={() => 'No product beside the other filters has this name.'}
      note={(typed) => {
        const { length } = find(typed);
        return length > shownMax ? text.editor.firstProducts(shownMax, length) : undefined;
      }}
      options={(typed) =>
        find(typed)
          .slice(0, shownMax)
          .map(({ value, name, count }) => ({
            key: value,
            label: <bdi>{name || value}</bdi>,
            detail: formatCount(count),
            onPick: () => onApply({ 'product-id': value }),
          }))
      }
    />
  );
}

const isMatch = ({ value, name }: ValueCount, typed: string): boolean =>
  value.toLowerCase().includes(typed) || (name ?? '').toLowerCase().includes(typed);
