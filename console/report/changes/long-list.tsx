import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { strings } from '../strings.ts';

/** The list grows on request: a thousand rows at once take long to draw. */
const rowsPerStep = 100;

interface LongListProps<Item> {
  readonly items: readonly Item[];
  readonly children: (shown: readonly Item[]) => ComponentChildren;
}

/** The first items of a list, and a button that shows more. */
export function LongList<Item>({ items, children }: LongListProps<Item>) {
  const [shown, setShown] = useState(rowsPerStep);
  const left = items.length - shown;
  return (
    <>
      {children(items.slice(0, shown))}
      {left > 0 && (
        <Button onClick={() => setShown(shown + rowsPerStep)}>
          {strings.changes.showMore(Math.min(left, rowsPerStep))}
        </Button>
      )}
    </>
  );
}
