import type { ComponentChildren } from 'preact';
import type { OperatorResponse } from '../../../contract/operator/operations.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Link } from '../../ui/location.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { call } from '../call.ts';
import { strings } from '../strings.ts';
import { useResource } from './use-resource.ts';

interface DetailProps<Id extends 'getTenant' | 'getClient' | 'getImport'> {
  readonly operation: Id;
  readonly params: Readonly<Record<string, string>>;
  /** Milliseconds between two reads; absent to read once. */
  readonly everyMs?: number;
  /** The page of the list, and its title. */
  readonly list: readonly [href: string, title: string];
  /** The title of the page; the value is absent until it is read. */
  readonly titleOf: (value: OperatorResponse<Id> | undefined) => string;
  readonly children: (value: OperatorResponse<Id>, reload: () => void) => ComponentChildren;
}

/** The page of one thing in each of its states, with a link back to the list. */
export function Detail<Id extends 'getTenant' | 'getClient' | 'getImport'>(props: DetailProps<Id>) {
  const { operation, params, everyMs, list, titleOf, children } = props;
  const { value, error, reload } = useResource(
    JSON.stringify(params),
    (signal, isBackground) => call(operation, { params, signal, isBackground }),
    { everyMs },
  );
  usePageTitle(titleOf(value));
  return (
    <>
      <p>
        <Link href={list[0]}>{strings.all(list[1])}</Link>
      </p>
      {error !== undefined && <ErrorNote error={error} onRetry={reload} />}
      {value === undefined && error === undefined && (
        <Loading>
          <Skeleton height="12em" />
        </Loading>
      )}
      {value !== undefined && children(value, reload)}
    </>
  );
}
