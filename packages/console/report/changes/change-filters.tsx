import type { ChangesSummary } from '../../../client/index.ts';
import { changedFields, withoutImport } from '../../../contract/change.ts';
import { changeKinds } from '../../../contract/history.ts';
import { readStatusFilter } from '../../../contract/subscription.ts';
import { Icon } from '../../ui/icon.tsx';
import { X } from '../../ui/icons.ts';
import { currentLocation, hrefOf, Link } from '../../ui/location.tsx';
import { statusWord } from '../../ui/status-label.tsx';
import { wordStrings } from '../words/word-strings.ts';
import { changesStrings } from './change-strings.ts';
import type { ChangeSelection } from './read-period.ts';

const text = changesStrings;
const names = ['kind', 'field', 'from', 'to', 'import-id'] as const;

/** The selection of the address; members that do not belong together are left out. */
export function selectionOf(query: URLSearchParams): ChangeSelection {
  const field = changedFields.find((each) => each === query.get('field'));
  const kind = field === undefined ? changeKinds.find((each) => each === query.get('kind')) : undefined;
  const values = field === undefined || field === 'renewal' ? [] : (['from', 'to'] as const);
  const given = [...values, 'import-id' as const].flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  return { ...(kind && { kind }), ...(field && { field }), ...Object.fromEntries(given) };
}

/** The address of the same period with another selection. */
export function hrefOfSelection(selection: ChangeSelection): string {
  const { path, query } = currentLocation.value;
  const changed = new URLSearchParams(query);
  for (const name of names) changed.delete(name);
  for (const [name, value] of Object.entries(selection)) changed.set(name, String(value));
  return hrefOf(path, changed);
}

interface SelectionNoteProps {
  readonly selection: ChangeSelection;
  readonly summary: ChangesSummary;
}

/** Says what is listed if that is not every change, and leads back to all of them. */
export function SelectionNote({ selection, summary }: SelectionNoteProps) {
  const words = describeSelection(selection, summary);
  if (words === '') return null;
  return (
    <p class="row long">
      <span>{text.only(words)}</span>
      <Link class="button quiet no-print" href={hrefOfSelection({})}>
        <Icon icon={X} />
        {text.all}
      </Link>
    </p>
  );
}

function describeSelection(selection: ChangeSelection, summary: ChangesSummary): string {
  const { kind, field, from, to, 'import-id': importId } = selection;
  const nameOf = (id: string): string => {
    const move = summary.by['product-id'].find((each) => each.from === id || each.to === id);
    return (move?.from === id ? move.from_name : move?.to_name) || id;
  };
  const word = (value: string | undefined): string => {
    if (value === undefined) return text.any;
    if (field === 'status') return statusWord(readStatusFilter(value));
    if (field === 'auto-renew') return value === 'true' ? wordStrings.yes : wordStrings.no;
    return field === 'product-id' ? nameOf(value) : value;
  };
  const values = from === undefined && to === undefined ? '' : `: ${word(from)} → ${word(to)}`;
  return [
    ...(kind === undefined ? [] : [text.kind[kind as keyof typeof text.kind]]),
    ...(field === undefined ? [] : [`${text.field[field]}${values}`]),
    ...(importId === undefined ? [] : [importId === withoutImport ? 'without an import' : text.oneImport(importId)]),
  ].join(', ');
}
