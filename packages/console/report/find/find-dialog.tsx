import { Dialog } from '../../ui/dialog.tsx';
import { navigate } from '../../ui/location.tsx';
import type { Page } from '../../ui/page.ts';
import { PickList, type PickOption } from '../../ui/pick-list.tsx';
import { strings } from '../../ui/strings.ts';
import { useValueCounts } from '../filters/editors/value-counts.ts';
import { filters } from '../filters/filters.ts';
import { suggestFilters } from '../filters/suggest-filters.ts';
import { usePasted } from '../filters/use-pasted.ts';
import { type FilterChanges, wholeReport, withFilters } from '../link/report-state.ts';
import { showReport } from '../store/report-store.ts';
import { findStrings } from './find-strings.ts';

const text = findStrings;

/** Most products of which a part of the name was typed. */
const productsMax = 5;

interface FindDialogProps {
  readonly pages: readonly Page[];
  readonly typed: string;
  readonly onClose: () => void;
}

/** Goes to a page, or the subscriptions of a SIM, an address, a product, a status or pasted ids. */
export function FindDialog({ pages, typed, onClose }: FindDialogProps) {
  const pick = (go: () => void) => () => {
    onClose();
    go();
  };
  const show = (changes: FilterChanges) => pick(() => showReport(withFilters(wholeReport, changes)));
  const counts = useValueCounts('product-id', wholeReport);
  const products = counts.kind === 'counted' ? counts.values : [];
  const options = (content: string): readonly PickOption[] => {
    const wanted = content.trim().toLowerCase();
    const named = products.filter(({ name = '' }) => name.toLowerCase().includes(wanted)).slice(0, productsMax);
    const ofProducts = named.map(({ value, name = '' }) => ({
      label: strings.filters.chip(filters.product.label, name),
      apply: { 'product-id': value },
    }));
    const suggestions = wanted === '' ? [] : [...ofProducts, ...suggestFilters(content, {}, new Date())];
    return [
      ...pages
        .filter(({ label }) => label.toLowerCase().includes(wanted))
        .map(({ label, path }) => ({ key: path, label, group: text.pages, onPick: pick(() => navigate(path)) })),
      ...suggestions.flatMap((suggestion) =>
        'apply' in suggestion
          ? [
              {
                key: JSON.stringify(suggestion.apply), // products may have one name
                label: <bdi>{suggestion.label}</bdi>,
                group: text.subscriptions,
                onPick: show(suggestion.apply),
              },
            ]
          : [],
      ),
    ];
  };
  const choices = usePasted({
    onPick: (changes) => show(changes)(),
    group: text.subscriptions,
    options,
    none: text.none,
  });
  return (
    <Dialog title={text.title} onClose={onClose}>
      <PickList
        label={text.hint}
        placeholder={text.hint}
        initial={typed}
        note={(content) => (content === '' ? text.pasteHint : undefined)}
        {...choices}
      />
    </Dialog>
  );
}
