import type { ChangesSummary, StatusTransition } from '../../../client/index.ts';
import { withoutImport } from '../../../contract/change.ts';
import { statusFilterOf } from '../../../contract/subscription.ts';
import { statusWord } from '../../ui/status-label.tsx';
import { changesStrings } from './change-strings.ts';
import type { ChangeSelection } from './read-period.ts';

const text = changesStrings;

/** A part of what changed: its number, its words, and what lists exactly it, if anything does. */
export interface ChangePart {
  readonly count: number;
  readonly words: string;
  readonly selection?: ChangeSelection;
}

/** Transitions that the sentence names; the others are added up. */
const transitionsMax = 6;

/** The parts of a summary that are not 0, in the order of a sentence. */
export function partsOf(summary: ChangesSummary): readonly ChangePart[] {
  const { added, removed, renewed, by, omitted } = summary;
  const moved = sumOf(by['product-id']) + omitted['product-id'];
  return [
    { count: added, words: text.part.added, selection: { kind: 'added' as const } },
    ...statusParts(by.status, omitted.status, {}),
    { count: moved, words: 'moved to another product', selection: { field: 'product-id' as const } },
    ...by['auto-renew'].map(({ from, to, count }) => ({
      count,
      words: (to === 'true' ? text.part.renews : text.part.ends)(count),
      selection: { field: 'auto-renew' as const, from, to },
    })),
    { count: renewed, words: text.part.renewed, selection: { field: 'renewal' as const } },
    { count: removed, words: text.part.removed, selection: { kind: 'removed' as const } },
  ].filter(({ count }) => count > 0);
}

/** The parts of one import. */
export function partsOfImport({
  import_id: id = withoutImport,
  ...counts
}: ChangesSummary['by']['import'][number]): readonly ChangePart[] {
  const ofImport = { 'import-id': id };
  return [
    { count: counts.added, words: text.part.added, selection: { kind: 'added' as const, ...ofImport } },
    { count: counts.changed, words: text.part.changed, selection: { kind: 'changed' as const, ...ofImport } },
    ...statusParts(counts.status, counts.omitted, ofImport),
    { count: counts.renewed, words: text.part.renewed, selection: { field: 'renewal' as const, ...ofImport } },
    { count: counts.removed, words: text.part.removed, selection: { kind: 'removed' as const, ...ofImport } },
  ].filter(({ count }) => count > 0);
}

function statusParts(
  transitions: readonly StatusTransition[],
  omitted: number,
  within: ChangeSelection,
): readonly ChangePart[] {
  const [named, others] = [transitions.slice(0, transitionsMax), transitions.slice(transitionsMax)];
  const rest = sumOf(others) + omitted;
  return [
    ...named.map(({ from, to, count }) => ({
      count,
      words: `${statusWord(from)} → ${statusWord(to)}`,
      selection: { field: 'status' as const, from: statusFilterOf(from), to: statusFilterOf(to), ...within },
    })),
    { count: rest, words: text.part.otherStatus },
  ];
}

const sumOf = (list: readonly { readonly count: number }[]): number => list.reduce((sum, { count }) => sum + count, 0);
