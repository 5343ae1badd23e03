import { formatCount } from '../../ui/format-count.ts';
import { Link } from '../../ui/location.tsx';
import { hrefOfSelection } from './change-filters.tsx';
import type { ChangePart } from './parts-of-changes.ts';

/** The parts, as links that list what each counts. */
export const PartLinks = ({ parts }: { readonly parts: readonly ChangePart[] }) => (
  <ul class="change-parts row">
    {parts.map(({ count, words, selection }) => (
      <li key={words}>
        {selection === undefined ? (
          `${formatCount(count)} ${words}`
        ) : (
          <Link href={hrefOfSelection(selection)}>
            {formatCount(count)} {words}
          </Link>
        )}
      </li>
    ))}
  </ul>
);
